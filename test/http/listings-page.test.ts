import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"

const berth = useBerth({ variables: { AUTH_URL: "http://127.0.0.1/in" } })
let owner: Account
let listingId = ""
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  ;({ listingId } = await newBusiness(owner, { name: "<i>Ladle</i>" }))
})
const html = { headers: { accept: "text/html" } }

describe("the pages of an owner's listings", () => {
  it("are below the sign-in's address, linked from the connected applications, and for those who signed in", async () => {
    for (
      const [path, query] of [
        ["/hub/listings", "to=listings"],
        [`/hub/listings/${listingId}`, `to=listing&id=${listingId}`],
        [`/hub/listings/${listingId}?period=7d&x=1`, `to=listing&id=${listingId}&period=7d`]
      ] as const
    ) {
      const answer = await berth.request("GET", path, html)
      expect([answer.status, answer.headers.get("location")], path).toEqual([303, `/in/oauth/sign-in?${query}`])
    }
    expect((await owner.request("GET", "/oauth/grants", html)).text).toContain("href=\"/in/hub/listings\"")
    const list = await owner.request("GET", "/hub/listings", html)
    expect(list.text).toContain(`<a href="/in/hub/listings/${listingId}"><bdi>&lt;i&gt;Ladle&lt;/i&gt;</bdi></a>`)
    const page = await owner.request("GET", `/hub/listings/${listingId}?period=7d`, html)
    expect(page.status).toBe(200)
    expect(page.text).toContain(`href="/in/hub/listings/${listingId}?period=90d"`)
    expect([page.headers.get("cache-control"), page.headers.get("vary")]).toEqual(["no-store", "Cookie"])
  })

  it("refuse as the API does: a page for people, the envelope for programs", async () => {
    const other = await berth.signUp()
    const path = `/hub/listings/${listingId}`
    expect((await other.request("GET", path, html)).text).toContain("This is not allowed")
    const refused = await other.get(path)
    expect([refused.status, refused.body]).toMatchObject([403, { error: { code: "forbidden" } }])
    expect((await other.get("/hub/listings?cursor=x")).status).toBe(400)
  })

  it("show fifty listings a page", async () => {
    const account = await berth.signUp("enterprise")
    const { id: projectId } = await account.project()
    for (let i = 0; i < 51; i++) await newBusiness(account, { projectId, name: `Ladle ${i}` })
    const first = (await account.request("GET", "/hub/listings", html)).text
    const more = /href="\/in(\/hub\/listings\?cursor=[^"]+)"/.exec(first)?.[1] ?? ""
    const second = (await account.request("GET", more.replaceAll("&amp;", "&"), html)).text
    expect([first, second].map((text) => text.match(/<bdi>Ladle /g)?.length)).toEqual([50, 1])
  })
})
