import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Ask, envelope, rpcOf, sessionPost, statelessPost } from "../support/stateless.ts"
import { type Running, start } from "./bundle.ts"
import { restaurant } from "./config.ts"

let server: Running

beforeAll(async () => {
  server = await start(restaurant)
}, 60_000)
afterAll(() => server?.stop())

const send = async ({ body, headers }: ReturnType<typeof statelessPost>) => {
  const answer = await fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}
const ask = (request: Ask) => send(statelessPost(request))
const codeOf = async (request: Ask) => {
  const answer = await ask(request)
  return [answer.status, rpcOf(answer).error?.code]
}

const call = { name: "search_catalog", arguments: { query: "soup" } }

describe("the ready-made server in revision 2026-07-28", () => {
  it("says what it is, and what it can do", async () => {
    expect(rpcOf(await ask({ method: "server/discover" })).result).toMatchObject({
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, resources: {}, extensions: { "io.modelcontextprotocol/skills": {} } },
      instructions: expect.stringContaining("one business") as string
    })
  })

  it.each([
    [{ method: "tools/list" }],
    [{ method: "resources/list" }],
    [{ method: "skills/list" }],
    [{ method: "tools/call", params: call }]
  ])("answers %j as in earlier revisions", async (request) => {
    const before = rpcOf(await send(sessionPost(request))).result
    expect(before).toBeDefined()
    expect(rpcOf(await ask(request)).result).toMatchObject({ ...before, resultType: "complete" })
  })

  it("refuses what that revision says: another tool in the header, a revision unknown here, a method that is gone", async () => {
    const request = { method: "tools/call", params: call }
    expect(await codeOf({ ...request, headers: { "mcp-name": "get_hours" } })).toEqual([400, -32020])
    expect(await codeOf({ ...request, headers: { "mcp-method": "tools/list" } })).toEqual([400, -32020])
    const later = { meta: envelope("2099-01-01"), headers: { "mcp-protocol-version": "2099-01-01" } }
    expect(await codeOf({ method: "tools/list", ...later })).toEqual([400, -32022])
    expect(await codeOf({ method: "ping" })).toEqual([404, -32601])
    expect(await codeOf({ method: "tools/call", params: { name: "no_such" } })).toEqual([200, -32602])
  })

  it("hides no batch of that revision behind the older one", async () => {
    const sent = statelessPost({ method: "tools/list" })
    expect((await send({ ...sent, body: [sent.body] })).status).toBe(400)
  })

  it("tells that a subscription has nothing to tell, and ends it", async () => {
    const listening = { method: "subscriptions/listen", params: { notifications: { toolsListChanged: true } } }
    expect(rpcOf(await ask(listening)).result).toMatchObject({ resultType: "complete" })
  })
})
