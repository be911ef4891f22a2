import { CallToolResultSchema, ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { afterAll, beforeAll, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { compose } from "../support/composites.ts"
import { LiveMembers } from "../support/live-members.ts"
import { startMember, type TestMember } from "../support/mcp-member.ts"
import { describeWhen } from "../support/needs.ts"
import { inspector, refusedMcpRemote, throughMcpRemote } from "./support/peer-programs.ts"
import { findPeers } from "./support/peers.ts"

const found = await findPeers()

describeWhen(typeof found === "string" ? found : undefined, "clients that others made, at a composite", () => {
  if (typeof found === "string") return
  const live = new LiveMembers()
  const berth = useBerth({ machines: live.machines })
  const servers: Array<TestMember> = []
  let url = ""
  let token = ""

  beforeAll(async () => {
    const owner = await berth.signUp("enterprise")
    token = owner.token
    const listingIds: Array<string> = []
    for (const name of ["anna", "bert"]) {
      const inputSchema = { type: "object" as const, properties: { q: { type: "string" } } }
      const server = await startMember(name, [{ name: "look", description: "Looks.", inputSchema }])
      servers.push(server)
      listingIds.push((await live.add(berth, owner, name, server.url)).business.listingId)
    }
    const { id } = await compose(owner, { name: "Two", query_definition: { listing_ids: listingIds } })
    url = `${berth.url}/mcp/composites/${id}`
  })
  afterAll(() => servers.forEach(({ stop }) => stop()))

  const both = { answers: [{ status: "ok" }, { status: "ok" }] }

  it("the Inspector's command line lists the tools, finds their schemas portable, and calls one", async () => {
    const inspect = inspector(found)
    const listed = await inspect(url, token, "--method", "tools/list", "--strict")
    expect(listed.code, listed.err).toBe(0)
    expect(ListToolsResultSchema.parse(JSON.parse(listed.out)).tools.map(({ name }) => name)).toEqual([
      "composite_members",
      "look"
    ])
    const called = await inspect(url, token, "--method", "tools/call", "--tool-name", "look", "--tool-arg", "q=x")
    expect(called.code, called.err).toBe(0)
    expect(CallToolResultSchema.parse(JSON.parse(called.out)).structuredContent).toMatchObject(both)
    expect(await inspect(url, undefined, "--method", "tools/list")).toMatchObject({ code: 3, out: "" })
  }, 120_000)

  it("mcp-remote brings it to a client that speaks stdio alone, and without a token asks to sign in", async () => {
    const client = await throughMcpRemote(found, url, token)
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["composite_members", "look"])
      const called = CallToolResultSchema.parse(await client.callTool({ name: "look", arguments: { q: "x" } }))
      expect(called.structuredContent).toMatchObject(both)
    } finally {
      await client.close()
    }
    const refused = await refusedMcpRemote(found, url, undefined)
    expect(refused.err).toMatch(/\/api\/v1\/oauth\/authorize\?\S*code_challenge_method=S256/)
    expect(decodeURIComponent(refused.err)).toContain(`resource=${url}`)
  }, 120_000)
})
