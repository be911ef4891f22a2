import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"
import { type Answer, type FailureBody } from "../support/http.ts"
import { upload } from "../support/imports.ts"

const berth = useBerth()
let owner: Account
let business: Business
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  business = await newBusiness(owner, { name: "Lantern House" })
  await owner.patch(`/v1/directory/${business.listingId}`, { visible: true })
})

/** Zero-width space, byte order mark, word joiner, soft hyphen, Mongolian separator, filler, Braille blank, tag. */
const unseen = [
  "\u200b",
  "\ufeff",
  "\u2060",
  "\u00ad",
  "\u180e",
  "\u3164",
  "\u2800",
  "\u{e0041}",
  " \u200b \u2060",
  "\u2003"
]

const issuesOf = ({ body, status }: Answer<FailureBody>) => [status, body.error.details?.issues]

describe("a text in which nothing is to be seen", () => {
  it("is no name of anything, as a blank one is not", async () => {
    const project = await owner.project()
    const names: ReadonlyArray<readonly [string, string, Readonly<Record<string, unknown>>]> = [
      ["POST", "/v1/projects", {}],
      ["PATCH", `/v1/projects/${project.id}`, {}],
      ["POST", `/v1/projects/${project.id}/servers`, {}],
      ["POST", businesses, { projectId: project.id }],
      ["PATCH", `${businesses}/${business.id}`, {}],
      ["PATCH", `${businesses}/${business.id}/listing`, {}],
      ["POST", `${businesses}/${business.id}/catalog/items`, {}],
      ["POST", `${businesses}/${business.id}/catalog/categories`, {}]
    ]
    for (const [method, path, body] of names) {
      for (const name of ["", "  ", ...unseen]) {
        const answer = await owner.request<FailureBody>(method, path, { body: { ...body, name } })
        expect([method, path, name, ...issuesOf(answer)])
          .toEqual([method, path, name, 422, [{ path: "name", message: "must not be blank" }]])
      }
    }
  })

  it("is no city, street, phone or category: empty says that there is none", async () => {
    const edit = (body: unknown) => owner.request<FailureBody>("PATCH", `${businesses}/${business.id}`, { body })
    const message = "must not be blank; leave it empty"
    for (const text of ["  ", ...unseen]) {
      for (const field of ["line1", "city", "state", "zip", "country"]) {
        expect([text, ...issuesOf(await edit({ contact: { address: { [field]: text } } }))])
          .toEqual([text, 422, [{ path: `contact.address.${field}`, message }]])
      }
      expect(issuesOf(await edit({ contact: { phone: text } }))).toEqual([422, [{ path: "contact.phone", message }]])
      expect(issuesOf(await edit({ category: text }))).toEqual([422, [{ path: "category", message }]])
    }
    expect((await edit({ contact: { address: { city: "" } }, category: "" })).status).toBe(200)
  })

  it("asks for nothing in a search", async () => {
    for (const text of unseen) {
      const query = `search=${encodeURIComponent(text)}&city=${encodeURIComponent(text)}`
      const { body } = await berth.request<{ meta: { total: number } }>("GET", `/v1/directory?${query}`)
      expect(body.meta.total, text).toBe(1)
    }
  })

  it("is no name in an imported file, and no category", async () => {
    for (const text of unseen) {
      const file = `name,category\nSoup,${text}\n${text},Mains\n`
      const preview = dataOf(await upload(owner, business.id, "menu.csv", file))
      expect([preview.record_count, preview.summary.categories_to_create], text).toEqual([1, []])
      expect(preview.warnings).toMatchObject([{ type: "format_error", context: "row 3" }])
    }
  })

  it("may stand beside what is seen: joiners make one emoji of several, and letters of some scripts", async () => {
    for (const name of ["👩‍🍳", "نمی‌خواهم", "Café\u00ad", "क्‍ष", "☕️"]) {
      expect(dataOf(await owner.patch<{ data: Business }>(`${businesses}/${business.id}`, { name })).name).toBe(name)
    }
  })
})
