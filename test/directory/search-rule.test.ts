import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"

const berth = useBerth()
let owner: Account
let projectId = ""

interface Page {
  readonly data: ReadonlyArray<{ readonly name: string }>
  readonly meta: { readonly total: number }
}
const find = async (search: string, filters: Readonly<Record<string, string>> = {}) => {
  const { body } = await berth.request<Page>("GET", `/v1/directory?${new URLSearchParams({ search, ...filters })}`)
  expect(body.meta.total, search).toBe(body.data.length)
  return body.data.map(({ name }) => name)
}
const list = async (name: string, listing: Readonly<Record<string, unknown>> = {}, city = ""): Promise<Business> => {
  const business = await newBusiness(owner, { projectId, name })
  await owner.patch(`${businesses}/${business.id}`, { contact: { address: { city } } })
  if (Object.keys(listing).length > 0) await owner.patch(`${businesses}/${business.id}/listing`, listing)
  await owner.patch(`/v1/directory/${business.listingId}`, { visible: true })
  return business
}

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  projectId = (await owner.project()).id
  await list("Joe's Pizza", {}, "Austin")
  await list("Smith & Sons Plumbing")
  await list("The Shed")
  await list("Bicycle Repair", {}, "Austin")
  await list("Slice House", { categories: ["Pizza"], tags: ["wood fired"] }, "Austin")
  await list("Sørens Smørbrød")
  await list("L'Œuf")
  await list("Saint Mary Bakery")
  await list("7 Brothers")
  await list("Best Buy")
  await list("The Best")
  await list("Taj Mahal")
  await list("Café de l'Opéra")
  await list("Trattoria dell'Arte")
  await list("H&R Block")
})

describe("one listing", () => {
  it("does not change what another's name finds", async () => {
    const questions = ["Joe's Pizza near me", "Joe's Pizza menu", "the shed", "best pizza austin", "smith and sons"]
    const before = await Promise.all(questions.map((question) => find(question)))
    expect(before[0]).toEqual(["Joe's Pizza"])
    const poison = await Promise.all([
      list("near me open now best delivery menu reviews"),
      list("Menu"),
      list("Anderson and Daughters"),
      list("Austin Bicycle Works")
    ])
    expect(await Promise.all(questions.map((question) => find(question)))).toEqual(before)
    for (const { id } of poison) await owner.delete(`${businesses}/${id}`)
  })
})

describe("a search", () => {
  it.each([
    ["smith and sons plumbing", ["Smith & Sons Plumbing"]],
    ["smith & sons", ["Smith & Sons Plumbing"]],
    ["the shed", ["The Shed"]],
    ["shed quux", ["The Shed"]],
    ["soren", ["Sørens Smørbrød"]],
    ["smorbrod", ["Sørens Smørbrød"]],
    ["loeuf", ["L'Œuf"]],
    ["st. mary", ["Saint Mary Bakery"]],
    ["st mary bakery", ["Saint Mary Bakery"]],
    ["seven brothers", ["7 Brothers"]],
    ["7 bros", ["7 Brothers"]],
    ["tajmahal", ["Taj Mahal"]],
    ["opera", ["Café de l'Opéra"]],
    ["dellarte", ["Trattoria dell'Arte"]],
    ["h and r block", ["H&R Block"]],
    ["z", []]
  ])("for %j finds %j", async (search, names) => {
    expect(await find(search)).toEqual(names)
  })

  it("finds by city, category and tag too, and by the name first", async () => {
    expect(await find("pizza austin")).toEqual(["Joe's Pizza", "Slice House"])
    expect(await find("wood austin")).toEqual(["Slice House"])
    expect(await find("PIZZA")).toEqual(["Joe's Pizza", "Slice House"])
  })

  it("needs one letter", async () => {
    expect(await find("j")).toEqual(["Joe's Pizza"])
    expect((await find("s")).slice(0, 3)).toContain("The Shed")
  })

  it("of stop words alone finds the names that have them; among equals they decide", async () => {
    expect(await find("the best")).toEqual(["The Best"])
    expect((await find("best buy"))[0]).toBe("Best Buy")
  })

  it("finds as many of its words as any listing has that the other filters leave", async () => {
    expect(await find("joe pizza plumbing sons smith")).toEqual(["Smith & Sons Plumbing"])
    expect(await find("joe pizza plumbing sons smith", { city: "Austin" })).toEqual(["Joe's Pizza"])
    expect(await find("joe plumbing", { city: "Nowhere" })).toEqual([])
  })
})
