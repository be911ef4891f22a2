import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { findPeers } from "../clients/support/peers.ts"
import { startDoorkeeper } from "../conformance/support/doorkeeper.ts"
import { runSuite, withStatus } from "../conformance/support/suite.ts"
import { untilTrue } from "../deployments/support/wait.ts"
import { stdioShimBundle } from "../ready-server/bundle.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { freePort } from "../support/http.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { describeLong, full } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"

/** Certificates of this machine's own authorities, where it has some. */
const bundle = "/etc/ssl/certs/ca-certificates.crt"
const certificates = existsSync(bundle) ? { NODE_EXTRA_CA_CERTS: bundle } : {}

const unreachable = async () => {
  if (process.platform !== "linux") return "machines run on Linux only"
  return fetch("https://registry.npmjs.org/is-odd", { signal: AbortSignal.timeout(10_000) }).then(
    ({ status }) => status === 200 ? undefined : `npm's registry answers ${status}`,
    () => "npm's registry can't be reached"
  )
}

const missing = full ? await unreachable() : undefined
const peers = full ? await findPeers() : "not looked for"

describeLong("packages of npm as they are", () => {
  const home = temporaryDirectory("real")
  // The registry may be a mirror at a private address.
  const berth = useBerth({
    machines: true,
    variables: { BERTH_HOME: home, ALLOWED_PRIVATE_HOSTS: "registry.npmjs.org", ...certificates }
  })
  const stops: Array<() => unknown> = []
  let owner: Account
  let server: Server
  let token: string

  beforeAll(async () => {
    await stdioShimBundle()
    owner = await berth.signUp("enterprise")
    server = await owner.server((await owner.project()).id, { memoryMb: 512, healthTimeoutSeconds: 60 })
    token =
      dataOf(await owner.post<{ data: { accessToken: string } }>(`/v1/servers/${server.id}/test-token`, {})).accessToken
  })
  afterAll(() => Promise.all(stops.map((stop) => stop())))

  /** One tool call, as an agent makes it; its client waits longer than the usual minute. */
  const deploy = async (args: Readonly<Record<string, unknown>>) => {
    const agent = await connectMcp(berth.url, { token: owner.token })
    try {
      const call = { name: "deploy", arguments: { serverId: server.id, ...args } }
      const answer = await agent.callTool(call, undefined, { timeout: 170_000 })
      return textOf(CallToolResultSchema.parse(answer)) as Readonly<Record<string, unknown>>
    } finally {
      await agent.close()
    }
  }

  it("server-memory, which speaks stdio alone, is live in one tool call and keeps what it is told", async () => {
    expect(await deploy({ imageUri: "npm:@modelcontextprotocol/server-memory", processes: "shared" }))
      .toMatchObject({ status: "running", mcp: { ok: true } })
    const client = await connectMcp(`${berth.url}/s/${server.slug}`, { token })
    const entities = [{ name: "Ladle", entityType: "restaurant", observations: ["is open"] }]
    await callTool(client, "create_entities", { entities })
    await client.close()
    const later = await connectMcp(`${berth.url}/s/${server.slug}`, { token })
    expect(JSON.stringify(await callTool(later, "read_graph"))).toContain("Ladle")
    await later.close()
  }, 180_000)

  it(
    "server-everything is live in one tool call, for the SDK's client and for the conformance suite as far as it is alone",
    async () => {
      expect(await deploy({ imageUri: "npm:@modelcontextprotocol/server-everything" }))
        .toMatchObject({ status: "running", mcp: { ok: true, transport: "streamable-http" } })
      const client = await connectMcp(`${berth.url}/s/${server.slug}`, { token })
      expect((await callTool(client, "echo", { message: "ahoy" })).content).toEqual([{
        type: "text",
        text: "Echo: ahoy"
      }])
      expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0)
      await client.close()
      if (typeof peers === "string") throw new Error(peers)

      // The suite opens some forty sessions at once, for which this machine has no room one by one.
      const shared = await deploy({ imageUri: "npm:@modelcontextprotocol/server-everything", processes: "shared" })
      // The package alone, as its own transport serves it, out of the image that was made.
      const alone = temporaryDirectory("alone")
      const rootfs = join(home, "rootfs")
      const digest = String(shared["imageDigest"])
      cpSync(join(rootfs, digest.replace("sha256:", "")), alone, { recursive: true })
      const app = join(alone, existsSync(join(alone, "rootfs")) ? "rootfs/app" : "app")
      const port = await freePort()
      const program = join(app, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")
      const child = spawn(process.execPath, [program, "streamableHttp"], {
        env: { PORT: String(port) },
        stdio: "ignore"
      })
      stops.push(async () => {
        child.kill("SIGKILL")
        await once(child, "close")
      })
      const url = `http://localhost:${port}/mcp`
      await untilTrue(() => fetch(url).then(() => true, () => false))
      const bare = await runSuite(peers, "2025-11-25", url)
      const doorkeeper = await startDoorkeeper({ platform: berth.url, token, prefix: `/s/${server.slug}` })
      stops.push(doorkeeper.stop)
      const hosted = await runSuite(peers, "2025-11-25", doorkeeper.url)
      const passed = new Set(withStatus(hosted, "SUCCESS"))
      expect(withStatus(bare, "SUCCESS").length).toBeGreaterThan(40)
      expect(withStatus(bare, "SUCCESS").filter((check) => !passed.has(check))).toEqual([])
    },
    400_000
  )
}, missing)
