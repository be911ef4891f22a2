import { decodeJwt } from "jose"
import { describe, expect, it } from "vitest"
import { useThreeMembers } from "../composites/three-members.ts"
import { type Account, dataOf } from "../support/account.ts"
import { hubKey } from "../support/composites.ts"
import { newFlow, redirectUri } from "../support/oauth.ts"
import { authorizePath, PlainBrowser } from "../support/pages.ts"
import { runSql } from "../support/sql.ts"
import { exchanging, fieldsOf } from "./support/exchange.ts"

const three = useThreeMembers()
const { berth, members } = three
const { exchange, grantsOf, tokenFor } = exchanging(berth)

describe("a token for a composite", () => {
  const resource = () => `${berth.url}${three.path}`
  const message = async (at: string, token: string, method: string, params = {}) => {
    const headers = { accept: "application/json, text/event-stream" }
    return berth.request("POST", at, { token, headers, body: { jsonrpc: "2.0", id: 1, method, params } })
  }

  it("has its URL as the audience, as one by consent has, and the scopes that were asked for; it opens nothing else", async () => {
    const flow = await newFlow(berth)
    const { access_token: clients } = await flow.tokens({ resource: `${berth.url}/mcp`, scope: "account" })
    const own = await three.compositeOf(members, flow.user)
    for (
      const [subject, at, accountId] of [
        [three.caller.token, three.path, three.caller.id],
        [three.key.token, three.path, three.caller.id],
        [clients, own, flow.user.id]
      ] as const
    ) {
      const url = `${berth.url}${at}`
      const token = await tokenFor(subject, url)
      expect(decodeJwt(token)).toMatchObject({
        aud: url,
        sub: accountId,
        client_id: "berth-token-exchange",
        scope: "mcp:read mcp:write mcp:execute"
      })
      expect(await message(at, token, "tools/call", { name: "look" })).toMatchObject({
        status: 200,
        body: { result: { structuredContent: { answers: [{ status: "ok" }, { status: "ok" }, { status: "ok" }] } } }
      })
      const other = at === own ? three.path : own
      for (const elsewhere of [other, "/mcp", `/s/${members[0]!.server.slug}/mcp`]) {
        expect((await message(elsewhere, token, "ping")).status, elsewhere).toBe(401)
      }
      expect(await exchange(fieldsOf(token, url))).toMatchObject({ status: 400, body: { error: "invalid_request" } })
      const least = await tokenFor(subject, url, "mcp:read")
      expect((await message(at, least, "tools/list")).status).toBe(200)
      expect((await message(at, least, "tools/call", { name: "look" })).status).toBe(403)
    }
  })

  it("comes of one grant, which the account sees, revokes at once and renews", async () => {
    const mine = await berth.signUp()
    const at = await three.compositeOf(members, mine)
    const url = `${berth.url}${at}`
    const [token = ""] = await Promise.all(Array.from({ length: 5 }, () => tokenFor(mine.token, url, "mcp:read")))
    await tokenFor(mine.token, url, "mcp:execute")
    const [grant, another] = await grantsOf(mine)
    expect(another).toBeUndefined()
    expect(grant).toMatchObject({
      clientName: "Token exchange",
      resource: url,
      serverId: null,
      scopes: ["mcp:read", "mcp:execute"]
    })
    expect((await mine.delete(`/v1/auth/grants/${grant!.id}`)).status).toBe(204)
    await expect.poll(async () => (await message(at, token, "tools/list")).status, { timeout: 10_000 }).toBe(401)
    expect(await exchange(fieldsOf(mine.token, url))).toMatchObject({
      status: 400,
      body: { error: "invalid_target", error_description: expect.stringContaining(`${grant!.id}/renew`) }
    })
    expect((await mine.post(`/v1/auth/grants/${grant!.id}/renew`, {})).status).toBe(200)
    expect((await message(at, await tokenFor(mine.token, url), "tools/list")).status).toBe(200)
  })

  it("ends with the composite, and so does what the account granted", async () => {
    const mine = await berth.signUp()
    const at = await three.compositeOf(members, mine)
    const kept = `${berth.url}${await three.compositeOf(members, mine)}`
    const token = await tokenFor(mine.token, `${berth.url}${at}`)
    await tokenFor(mine.token, kept)
    expect((await mine.delete(at.replace("/mcp/", "/v1/hub/"))).status).toBe(204)
    expect((await message(at, token, "tools/list")).status).toBe(404)
    expect((await grantsOf(mine)).map(({ resource }) => resource)).toEqual([kept])
  })

  it("is given to who may read it alone: another's private one is as one that is not there", async () => {
    const stranger = await berth.signUp()
    const nowhere = `${berth.url}/mcp/composites/01HZZZZZZZZZZZZZZZZZZZZZZZ`
    for (const [subject, url] of [[stranger.token, resource()], [three.caller.token, nowhere]] as const) {
      expect(await exchange(fieldsOf(subject, url))).toMatchObject({
        status: 400,
        body: {
          error: "invalid_target",
          error_description: "No composite that this account may read has this URL, or it has expired"
        }
      })
    }
    expect(await grantsOf(stranger)).toEqual([])
  })

  it("is asked for by consent only where it is there, and the user may read it; nobody else hears its name", async () => {
    const flow = await newFlow(berth)
    const at = await three.compositeOf(members, flow.user)
    const page = async (account: Account, path: string) => {
      const browser = new PlainBrowser(berth)
      browser.cookies.set("svc_session", account.token)
      return browser.go(authorizePath({
        client_id: flow.clientId,
        redirect_uri: redirectUri,
        resource: `${berth.url}${path}`,
        scope: "mcp:read",
        code_challenge: flow.challenge
      }))
    }
    const { name } = dataOf(await flow.user.get<{ data: { name: string } }>(at.replace("/mcp/", "/v1/hub/")))
    const own = await page(flow.user, at)
    expect([own.status, own.text.includes(name)]).toEqual([200, true])
    // Verified are those of a tier; the page says of how many nobody knows who they are.
    const { data: { members: shown } } = (await flow.user.get<{
      data: { members: ReadonlyArray<{ verification_tier: number }> }
    }>(at.replace("/mcp/", "/v1/hub/"))).body
    const unverified = shown.filter((one) => one.verification_tier === 0).length
    expect(own.text.includes(`${unverified} of them unverified`)).toBe(unverified > 0)
    expect(own.text).toMatch(new RegExp(`<dd>${shown.length}[,:]`))
    const others = await page(await berth.signUp(), at)
    expect([others.status, others.text.includes(name)]).toEqual([403, false])
    expect(others.text).toContain("It is private to another account")
    const nowhere = await flow.authorize({ resource: `${berth.url}/mcp/composites/01HZZZZZZZZZZZZZZZZZZZZZZZ` })
    expect(Object.fromEntries(nowhere.searchParams)).toMatchObject({
      error: "invalid_target",
      error_description: "no composite has this URL, or it has expired"
    })
  })

  it("for a hub key reaches what the key reaches: no server that is there for its account alone", async () => {
    const { business, server } = members[0]!
    const key = await hubKey(berth, three.owner)
    const at = await three.compositeOf(members.slice(0, 1), three.owner)
    const set = async (access: string, composable: boolean | null) => {
      await runSql(berth.databaseUrl, "UPDATE servers SET access = $2 WHERE id = $1", [server.id, access])
      await runSql(berth.databaseUrl, "UPDATE listings SET composable = $2 WHERE id = $1", [
        business.listingId,
        composable
      ])
    }
    const callable = async (subject: string) => {
      const token = await tokenFor(subject, `${berth.url}${at}`)
      return message(at, token, "tools/call", { name: "composite_members" })
    }
    const told = (member: object) => ({ body: { result: { structuredContent: { members: [member] } } } })
    await set("owner", true)
    expect(await callable(three.owner.token)).toMatchObject(told({ callable: true }))
    expect(await callable(key.token)).toMatchObject(told({ callable: false, code: "member_refused" }))
    await set("public", null)
    expect(await callable(key.token)).toMatchObject(told({ callable: true }))
  })
})
