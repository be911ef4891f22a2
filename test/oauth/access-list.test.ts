import { beforeAll, describe, expect, it } from "vitest"
import { berthCli } from "../cli/mcp/run.ts"
import { type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Flow, newFlow, type OAuthErrorBody, redirectUri } from "../support/oauth.ts"
import { authorizePath, PlainBrowser } from "../support/pages.ts"
import { temporaryDirectory } from "../support/Settings.ts"

const berth = useBerth()
let flow: Flow
beforeAll(async () => {
  flow = await newFlow(berth)
})

const admin = (...args: ReadonlyArray<string>) =>
  berthCli(["admin", ...args], { DATABASE_URL: berth.databaseUrl, BERTH_HOME: temporaryDirectory() })

const setList = (...allowedEmails: ReadonlyArray<string>) =>
  flow.owner.put<{ data: Server & { notice?: string } }>(`/v1/servers/${flow.server.id}/auth`, {
    authMode: "service_managed",
    access: "list",
    allowedEmails
  })

/** What the user sees who is asked to consent. */
const consent = async (user: { readonly token: string }) => {
  const browser = new PlainBrowser(berth)
  browser.cookies.set("svc_session", user.token)
  const resource = flow.server.publicUrl
  const answer = await browser.go(authorizePath({ client_id: flow.clientId, redirect_uri: redirectUri, resource }))
  const [main = ""] = /<main>.*<\/main>/s.exec(answer.text) ?? []
  return { browser, status: answer.status, text: main.replace(/<[^>]+>|\s+/g, " ") }
}

describe("a list of e-mail addresses", () => {
  it("lets in nobody for having signed up with one, and says how to get in", async () => {
    const { user } = flow
    expect((await setList(user.email)).status).toBe(200)
    const { browser, status, text } = await consent(user)
    expect([status, text]).toEqual([403, expect.stringMatching(/Ask the operator of this platform to verify it/)])
    const forced = await browser.submit({ decision: "allow" })
    expect([forced.status, forced.headers.get("location")]).toEqual([403, null])
    // Whether an address is on the list is not to be found out by signing up with it.
    const other = await berth.signUp()
    expect((await consent(other)).text.replaceAll(other.email, user.email)).toBe(text)
  })

  it("lets in whose address the operator verified, until that is undone", async () => {
    const { user } = flow
    await setList(user.email.toUpperCase())
    const done = await admin("verify", user.email.toUpperCase())
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining("is verified") })
    const me = await user.get<{ data: { user: { emailVerifiedAt: string | null } } }>("/v1/auth/me")
    expect(Date.parse(me.body.data.user.emailVerifiedAt ?? "")).toBeGreaterThan(Date.now() - 60_000)
    const tokens = await flow.tokens()
    const { refresh_token: next } = (await flow.refresh(tokens.refresh_token)).body
    expect(await admin("verify", user.email, "--undo")).toMatchObject({ code: 0 })
    expect((await flow.refresh<OAuthErrorBody>(next)).body).toMatchObject({ error: "invalid_grant" })
    expect((await consent(user)).status).toBe(403)
    const again = await user.get<{ data: { user: { emailVerifiedAt: string | null } } }>("/v1/auth/me")
    expect(again.body.data.user.emailVerifiedAt).toBeNull()
  })

  it("refuses who is verified and not on it in other words", async () => {
    await setList("somebody@else.example")
    const stranger = await berth.signUp()
    await admin("verify", stranger.email)
    const { status, text } = await consent(stranger)
    expect([status, text]).toEqual([403, expect.stringMatching(/Ask the owner to add your e-mail address/)])
  })

  it("never shuts out the owner, verified or not", async () => {
    await setList("somebody@else.example")
    expect((await consent(flow.owner)).status).toBe(200)
  })

  it("comes with a notice for the owner that it takes verified addresses only; nothing else does", async () => {
    const { body } = await setList("somebody@else.example")
    expect(body.data.notice).toMatch(/operator of this platform has verified/)
    const path = `/v1/servers/${flow.server.id}`
    expect((await flow.owner.get<{ data: object }>(path)).body.data).toHaveProperty("notice", body.data.notice)
    const open = await flow.owner.put<{ data: object }>(`${path}/auth`, {
      authMode: "service_managed",
      access: "owner"
    })
    expect(open.body.data).not.toHaveProperty("notice")
  })

  it("is nothing that the operator could verify for an account that does not exist", async () => {
    expect(await admin("verify", "nobody@nowhere.example")).toMatchObject({
      code: 4,
      err: expect.stringContaining("There is no account nobody@nowhere.example")
    })
  })
})
