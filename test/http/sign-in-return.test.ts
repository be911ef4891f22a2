import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { PlainBrowser } from "../support/pages.ts"

const berth = useBerth()
let owner: Account
let listing = ""
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  listing = `/hub/listings/${(await newBusiness(owner)).listingId}`
})

const after = (answer: { readonly status: number; readonly headers: Headers }) => [
  answer.status,
  answer.headers.get("location")
]

describe("who signs in on the way to a page of a listing", () => {
  it("comes to that page", async () => {
    for (const path of ["/hub/listings", listing, `${listing}?period=90d`]) {
      const browser = new PlainBrowser(berth)
      await browser.go(path)
      expect(after(await browser.submit({ email: owner.email, password: "wrong password" }))[0], path).not.toBe(303)
      expect(after(await browser.submit({ email: owner.email, password: owner.password })), path).toEqual([303, path])
      expect((await browser.go(path)).status).toBe(200)
    }
  })

  it("comes there by way of a new account, too", async () => {
    const browser = new PlainBrowser(berth)
    await browser.go("/hub/listings")
    await browser.go(/<a href="([^"]*sign-up[^"]*)"/.exec(browser.text)?.[1] ?? "")
    const email = `new-${Date.now()}@example.com`
    expect(after(await browser.submit({ email, password: "long enough password", name: "" })))
      .toEqual([303, "/hub/listings"])
  })

  it("comes to no other page by a query that somebody made", async () => {
    const id = listing.slice("/hub/listings/".length)
    for (
      const [query, path] of [
        ["to=listing&id=//evil.example", undefined],
        ["to=//evil.example", undefined],
        ["to=https://evil.example&id=x", undefined],
        ["to=listing", undefined],
        [`to=listing&id=${id}&period=//evil.example`, listing],
        ["to=listings&to=//evil.example", "/hub/listings"]
      ] as const
    ) {
      const browser = new PlainBrowser(berth)
      const answer = await browser.signIn(owner, `?${query}`)
      if (path === undefined) {
        expect(answer.text + String(answer.headers.get("location")), query).not.toMatch(/(href="|^)(https?:)?\/\/evil/)
        expect(answer.headers.get("location") ?? "/api/v1/oauth/authorize", query).toMatch(/^\/(oauth|api)\//)
      } else expect(after(answer), query).toEqual([303, path])
    }
  })
})
