import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { berthCli } from "../cli/mcp/run.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeWhen } from "../support/needs.ts"
import { missingForApps } from "./support/app-image.ts"
import { type McpBehaviour, mcpImage } from "./support/mcp-image.ts"

describeWhen(missingForApps, "a deployment under a public name", () => {
  const berth = useBerth({
    machines: true,
    variables: { BASE_URL: "https://berth.example.com", MCP_DOMAIN: "mcp.example.com" }
  })
  let owner: Account
  let server: Server
  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    server = await owner.server((await owner.project()).id, { healthTimeoutSeconds: 5 })
  })

  const image = (behaviour: McpBehaviour, ...env: ReadonlyArray<string>) =>
    Effect.runPromise(mcpImage(behaviour, [{ name: "look", description: "Looks." }], env))
  /** As an owner types it. */
  const berthCall = async (tool: string, args: Readonly<Record<string, unknown>>) =>
    berthCli(["call", `${berth.url}/mcp`, tool, "--input", JSON.stringify(args), "--token", owner.token])
  const log = async () =>
    dataOf(
      await owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(
        `/v1/servers/${server.id}/logs?limit=200`
      )
    ).items.map(({ message }) => message)

  it("is tried under it: the machine sees its own Host, and the public one as the forwarded one", async () => {
    expect(server.publicUrl).toBe(`https://${server.slug}.mcp.example.com`)
    const { code, out } = await berthCall("deploy", {
      serverId: server.id,
      imageUri: await image("streamable", "SHOW=1")
    })
    expect([code, out]).toEqual([0, expect.stringMatching(/^status: running$/m)])
    // The command line shows what HTTP, tool and log do.
    for (
      const line of [
        "  ok: true",
        "  toolCount: 1",
        "  transport: streamable-http",
        "  revision: 2025-06-18",
        "  problem: -",
        "    look  Looks."
      ]
    ) expect(out.slice(out.indexOf("\nmcp:\n")).split("\n")).toContain(line)
    const headersOf = async () =>
      (await log()).filter((line) => line.startsWith("/mcp ")).map((line) => line.slice("/mcp ".length).split("|"))
    await expect.poll(async () => (await headersOf()).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(3)
    for (const headers of await headersOf()) {
      expect(headers).toEqual(expect.arrayContaining([
        "host: localhost:8080",
        `x-forwarded-host: ${server.slug}.mcp.example.com`,
        "x-forwarded-proto: https",
        expect.stringMatching(/^authorization: bearer /),
        expect.stringMatching(/^x-berth-gateway-token: /)
      ]))
      expect(headers.filter((one) => one.startsWith("x-forwarded-prefix"))).toEqual([])
    }
  }, 60_000)

  it("has its problem on the command line too: of the newest one, in the list, and as why one failed", async () => {
    const problem = /no MCP server was found: \/mcp answered with status 404, \/sse with 404; serve MCP at/
    const { code, out } = await berthCall("deploy", { serverId: server.id, imageUri: await image("none") })
    expect(code).toBe(0)
    expect(out).toMatch(/^mcp:\n {2}ok: false\n[^]*^ {2}problem: no MCP server was found: /m)
    const listed = await berthCall("list_deployments", { serverId: server.id })
    expect(listed.out).toMatch(problem)
    expect(listed.out).toMatch(/streamable-http/)
    const refused = await berthCall("deploy", { serverId: server.id, imageUri: await image("hosts", "HEALTH=404") })
    expect(refused.out).toMatch(/^status: failed$/m)
    expect(refused.out).toMatch(
      /^errorMessage: checking: .*status 403 and refused the Host; requests come with Host: /m
    )
    const elsewhere = await berthCall("deploy", {
      serverId: server.id,
      imageUri: await image("streamable", "LISTEN=3000")
    })
    expect(elsewhere.out).toMatch(/^errorMessage: checking: .*which is 8080\); it listens on 3000 instead: /m)
  }, 60_000)
})
