import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { afterAll, beforeAll, expect, it } from "vitest"
import { bundleFixture, fixtureImage } from "../conformance/support/fixture.ts"
import { useBerth } from "../support/Berth.ts"
import { describeWhen } from "../support/needs.ts"
import { type Flow, newFlow } from "../support/oauth.ts"
import { envelope, outcomeOf, rpcOf, sessionPost, statelessPost } from "../support/stateless.ts"

const notLinux = process.platform === "linux" ? undefined : "the image is made of this Node, on Linux only"

const marked = "test_trigger_tool_change"
const readOnly = "test_simple_text"

describeWhen(notLinux, "a deployed server of revision 2026-07-28 alone", () => {
  const berth = useBerth({ machines: true })
  let flow: Flow
  let deployed: unknown

  beforeAll(async () => {
    flow = await newFlow(berth)
    const imageUri = await fixtureImage(await bundleFixture("stateless"))
    const { body } = await flow.owner.post<{ data: unknown }>(`/v1/servers/${flow.server.id}/deploy`, { imageUri })
    deployed = body.data
  }, 120_000)
  afterAll(() => flow?.owner.delete(`/v1/projects/${flow.project.id}`))

  const tokenWith = async (scope: string) => (await flow.tokens({ scope })).access_token
  const path = () => `/s/${flow.server.slug}/mcp`

  it("has its handshake in that revision, and its tools are known", () => {
    expect(deployed).toMatchObject({
      status: "running",
      mcp: {
        ok: true,
        transport: "streamable-http",
        revision: "2026-07-28",
        tools: expect.arrayContaining([expect.objectContaining({ name: readOnly })]) as unknown,
        problem: null
      }
    })
  })

  it("is used through the gateway by the SDK's second version, from discovery to a round of input", async () => {
    const client = new Client({ name: "test", version: "1" }, {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: "auto" }
    })
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Anna" } }))
    await client.connect(
      new StreamableHTTPClientTransport(new URL(path(), berth.url), {
        requestInit: { headers: { authorization: `Bearer ${await tokenWith("mcp:read mcp:execute")}` } }
      })
    )
    try {
      expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28")
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain(readOnly)
      expect(await client.callTool({ name: readOnly })).toMatchObject({ content: [{ text: "Some text" }] })
      expect(await client.callTool({ name: "test_input_required_result_elicitation" })).toMatchObject({
        content: [{ text: "That was all: state-ok" }]
      })
      expect(await client.readResource({ uri: "test://static-text" })).toMatchObject({
        contents: [{ text: "Some text" }]
      })
    } finally {
      await client.close()
    }
  })

  it("is refused by itself, and not by the gateway, what begins with initialize", async () => {
    const token = await tokenWith("mcp:read mcp:execute")
    const answer = await berth.request("POST", path(), { ...sessionPost({ method: "tools/list" }), token })
    expect(outcomeOf(answer)).toEqual([400, -32022])
  })

  it("has its marks held: mcp:write calls what changes something, and nothing else whatever headers say", async () => {
    const token = await tokenWith("mcp:read mcp:write")
    const call = async (
      name: string,
      more: Readonly<Record<string, unknown>> = {},
      headers = {},
      meta = envelope()
    ) => {
      const { body, headers: usual } = statelessPost({
        method: "tools/call",
        params: { name, arguments: {}, ...more },
        meta
      })
      return berth.request("POST", path(), { body, headers: { ...usual, ...headers }, token })
    }
    const allowed = await call(marked)
    expect(allowed.status).toBe(200)
    expect(rpcOf(allowed).result).toMatchObject({ content: [{ text: "Whoever listens was told" }] })
    for (const name of [readOnly, "test_custom_header", "no_such_tool"]) {
      const refused = await call(name)
      expect(refused.status).toBe(403)
      expect(refused.headers.get("www-authenticate")).toContain("insufficient_scope")
    }
    const lies = [
      // The header names what is allowed, the body what is not; and the other way round.
      () => call(readOnly, {}, { "mcp-name": marked }),
      () => call(marked, {}, { "mcp-name": readOnly }),
      // A parameter that agrees with the header, and is none of this method's.
      () => call(marked, { uri: readOnly }, { "mcp-name": readOnly }),
      () => call(readOnly, {}, { "mcp-method": "tools/list" }),
      () => call(marked, {}, { "mcp-protocol-version": "2025-11-25" }),
      () => call(marked, {}, { "mcp-name": `${marked}, ${readOnly}` })
    ]
    for (const lie of lies) {
      const refused = await lie()
      expect([refused.status, refused.text]).toEqual([
        400,
        expect.stringContaining("says something else than the body")
      ])
    }
    // A list of what the token may not call is no way around it.
    const list = statelessPost({ method: "tools/list" })
    const smuggled = {
      ...list,
      body: [list.body, statelessPost({ method: "tools/call", params: { name: readOnly } }).body]
    }
    expect((await berth.request("POST", path(), { ...smuggled, token })).status).toBeGreaterThanOrEqual(400)
  })
})
