import { describe, expect, it } from "vitest"
import { useBerth } from "../../support/Berth.ts"
import { newFlow } from "../../support/oauth.ts"
import { authorizePath, PlainBrowser } from "../../support/pages.ts"

const berth = useBerth()

describe("[8] RFC 9207: iss in the authorization response", () => {
  it("§2: is there once, with the metadata's issuer, on success, on errors and when the user says no", async () => {
    const flow = await newFlow(berth)
    const { body } = await berth.request<{ issuer: string }>("GET", "/.well-known/oauth-authorization-server")
    const browser = new PlainBrowser(berth)
    browser.cookies.set("svc_session", flow.user.token)
    await browser.go(authorizePath({
      client_id: flow.clientId,
      redirect_uri: "https://client.example/callback",
      resource: flow.server.publicUrl,
      state: "mine"
    }))
    const denied = await browser.submit({ decision: "deny" })
    const answers = [
      await flow.authorize({ state: "mine" }),
      await flow.authorize({ state: "mine", scope: "nothing" }),
      new URL(denied.headers.get("location")!)
    ]
    const said = answers.map(({ searchParams }) => searchParams.get("error"))
    expect(said).toEqual([null, "invalid_scope", "access_denied"])
    for (const { searchParams } of answers) {
      expect([searchParams.getAll("iss"), searchParams.getAll("state")]).toEqual([[body.issuer], ["mine"]])
    }
  })
})
