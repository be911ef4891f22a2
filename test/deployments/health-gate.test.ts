import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Account, dataOf, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses, newBusiness } from "../support/business.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeWhen, itLong } from "../support/needs.ts"
import { appImage, missingForApps, perlImage } from "./support/app-image.ts"
import { mcpImage } from "./support/mcp-image.ts"

interface Deployment {
  readonly id: string
  readonly version: number
  readonly status: string
  readonly active: boolean
  readonly errorMessage?: string
  readonly admittedBy: string | null
  readonly progress: string | null
  readonly mcp: { readonly ok: boolean; readonly problem: string | null } | null
}
type Ruled = Server & { readonly requireMcp: boolean | null; readonly mcpRequired: boolean }

const look = { name: "look", description: "Looks." }
const image = (...options: Parameters<typeof mcpImage>) => Effect.runPromise(mcpImage(...options))
const noHealth = ["HEALTH=404"]

describeWhen(missingForApps, "what lets a deployment serve", () => {
  const berth = useBerth({ machines: true })
  let owner: Account
  let project: Project
  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    project = await owner.project()
  })
  afterAll(() => owner.delete(`/v1/projects/${project.id}`))

  const make = (fields: Readonly<Record<string, unknown>> = {}) =>
    owner.server(project.id, { healthTimeoutSeconds: 2, ...fields }) as Promise<Ruled>
  const at = ({ id }: Server) => `/v1/servers/${id}`
  const deploy = async (server: Server, imageUri: string) =>
    dataOf(await owner.post<{ data: Deployment }>(`${at(server)}/deploy`, { imageUri }))
  const read = async (server: Server) => dataOf(await owner.get<{ data: Ruled }>(at(server)))
  const logOf = async (server: Server) => {
    const path = `${at(server)}/logs?limit=200`
    const { items } = dataOf(await owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(path))
    return items.map(({ message }) => message).reverse()
  }
  const byoa = async (server: Server) => {
    const url = (path: string) => `https://id.example/${path}`
    const byoaConfig = {
      issuer: url(""),
      jwksUri: url("jwks"),
      authorizationEndpoint: url("authorize"),
      tokenEndpoint: url("token")
    }
    expect((await owner.put(`${at(server)}/auth`, { authMode: "byoa", byoaConfig })).status).toBe(200)
  }

  it("is MCP where /healthz answers 404, also after a stop, a start and a restart", async () => {
    const server = await make()
    const done = await deploy(server, await image("streamable", [look], noHealth))
    expect(done).toMatchObject({ status: "running", active: true, admittedBy: "mcp", progress: null })
    expect(done.mcp).toMatchObject({ ok: true, transport: "streamable-http", tools: [look], problem: null })
    const log = await logOf(server)
    const inPlace = "/healthz answered with status 404, and the MCP handshake passed in its place"
    expect(log).toContainEqual(expect.stringMatching(`^Deployment 1: healthy after [\\d.]+ s: ${inPlace}$`))
    expect(log.filter((line) => line.includes("MCP 2025-06-18"))).toHaveLength(1)
    expect((await owner.post(`${at(server)}/restart`, undefined)).body).toMatchObject({ data: { status: "running" } })
    await owner.post(`${at(server)}/stop`, undefined)
    expect((await owner.post(`${at(server)}/start`, undefined)).body).toMatchObject({ data: { status: "running" } })
    // Of a version that answers its health path the same 404 is a failure.
    expect(await deploy(server, await image("streamable"))).toMatchObject({ status: "running", admittedBy: "health" })
  }, 60_000)

  itLong("is the server's own health path where it has one: a 404 there fails, and says what to set", async () => {
    const server = await make({ healthPath: "/ready" })
    const { admittedBy, errorMessage, status } = await deploy(server, await image("streamable", [], noHealth))
    expect([status, admittedBy]).toEqual(["failed", null])
    expect(errorMessage).toMatch(
      /^checking: \/ready answered with status 404, not 200; set the server's healthPath to .*, or to \/healthz/
    )
  }, 60_000)

  itLong("is neither another status nor a server that has no MCP: both paths are named", async () => {
    const [server, other, late] = [await make(), await make(), await make({ healthTimeoutSeconds: 10 })]
    const [none, broken, slow] = await Promise.all([
      deploy(server, await image("none", [], noHealth)),
      deploy(other, await Effect.runPromise(appImage("failing"))),
      deploy(late, await image("streamable", [look], [...noHealth, "LATE=2"]))
    ])
    expect(none.errorMessage).toMatch(
      /^checking: \/healthz answered with status 404, not 200, and no MCP server was found: \/mcp answered with status 404, \/sse with 404; .* \(waited 2 s\)$/
    )
    expect(none).toMatchObject({
      status: "failed",
      mcp: { ok: false, problem: expect.stringContaining("no MCP server") }
    })
    expect(broken).toMatchObject({
      status: "failed",
      errorMessage: "checking: /healthz answered with status 500, not 200 (waited 2 s)",
      mcp: null
    })
    // One that is still starting is tried again.
    expect(slow).toMatchObject({ status: "running", admittedBy: "mcp" })
  }, 60_000)

  it("includes MCP where requireMcp asks for it; a failure leaves the version before it in service", async () => {
    const server = await make()
    expect(server).toMatchObject({ requireMcp: null, mcpRequired: false })
    const one = await deploy(server, await image("none"))
    expect(one).toMatchObject({ status: "running", mcp: { ok: false } })
    const changed = await owner.patch(at(server), { requireMcp: true })
    expect(changed.body).toMatchObject({ data: { requireMcp: true, mcpRequired: true } })
    const failed = await deploy(server, await image("none"))
    expect(failed).toMatchObject({ status: "failed", active: false, mcp: { ok: false } })
    expect(failed.errorMessage).toMatch(
      /^checking: the server must speak MCP \(requireMcp\), and the handshake failed: no MCP server was found: .* \(tried for [\d.]+ s\)$/
    )
    expect(await read(server)).toMatchObject({ status: "running" })
    // Healthy before it speaks MCP: it is given its time.
    await owner.patch(at(server), { healthTimeoutSeconds: 10 })
    expect(await deploy(server, await image("streamable", [look], ["LATE=1"]))).toMatchObject({
      status: "running",
      admittedBy: "health",
      mcp: { ok: true }
    })
    expect((await owner.patch(at(server), { requireMcp: "yes" })).status).toBe(422)
    const client = await connectMcp(berth.url, { token: owner.token })
    const { structuredContent } = await callTool(client, "update_server", { serverId: server.id, requireMcp: null })
    expect(structuredContent).toMatchObject({ requireMcp: null, mcpRequired: false })
    await client.close()
  }, 60_000)

  it("names what its egress refused while it was tried with MCP, and the one command that allows it", async () => {
    const server = await make({ requireMcp: true })
    const stopped = await deploy(server, await image("streamable", [look], ["ASKS=db.example.org"]))
    const change = `{"serverId":"${server.id}","egress":{"add":["db.example.org"]}}`
    expect(stopped.errorMessage).toMatch(/^checking: the server must speak MCP .* status 500/)
    expect(stopped.errorMessage?.split(". Meanwhile ")[1]).toBe(
      "its egress refused db.example.org, which may be why. " +
        `To allow it: npx berth call ${berth.url}/mcp update_server --input '${change}'`
    )
  }, 30_000)

  itLong("includes MCP by itself for the server of a published business", async () => {
    const server = await make()
    const shop = await newBusiness(owner, { projectId: project.id, name: "Copper Ladle" })
    await owner.patch(`${businesses}/${shop.id}`, { serverId: server.id })
    expect(await read(server)).toMatchObject({ requireMcp: null, mcpRequired: false })
    await owner.patch(`/v1/directory/${shop.listingId}`, { visible: true })
    expect(await read(server)).toMatchObject({ requireMcp: null, mcpRequired: true })
    expect(await deploy(server, await image("none"))).toMatchObject({ status: "failed" })
    await owner.patch(at(server), { requireMcp: false })
    expect(await read(server)).toMatchObject({ requireMcp: false, mcpRequired: false })
    expect(await deploy(server, await image("none"))).toMatchObject({ status: "running" })
  }, 60_000)

  it("is not MCP where only the server's own issuer gives tokens for it: neither for nor against", async () => {
    // Time for a handshake behind the health check, also on a busy machine.
    const [server, other] = [await make({ requireMcp: true }), await make({ healthTimeoutSeconds: 5 })]
    await Promise.all([byoa(server), byoa(other)])
    const [guarded, blind] = await Promise.all([
      deploy(server, await image("token")),
      deploy(other, await image("token", [], noHealth))
    ])
    expect(guarded).toMatchObject({ status: "running", admittedBy: "health", mcp: { ok: false } })
    expect(blind.errorMessage).toContain("such as /.well-known/oauth-protected-resource")
  }, 60_000)

  it("names why not: a stdio program, another port, a refused Host, nothing at all", async () => {
    const cases: ReadonlyArray<readonly [string, string, RegExp]> = [
      [
        "stdio",
        await Effect.runPromise(
          perlImage("print STDERR \"Look MCP server running on stdio\\n\"; 1 while <STDIN>; exit 0")
        ),
        /^checking: the machine exited with code 0 before \/healthz answered, and nothing ever listened on its port: if it speaks MCP over stdio, deploy its package \(imageUri npm:.*supergateway.*Look MCP server running on stdio/
      ],
      [
        "another port",
        await image("streamable", [], ["LISTEN=3000"]),
        /^checking: \/healthz did not answer: connection refused \(the server must listen on PORT, which is 8080\); it listens on 3000 instead: /
      ],
      [
        "its Host",
        await image("hosts", [], noHealth),
        /^checking: \/healthz .*404, not 200, and \/mcp \(initialize\) answered with status 403 and refused the Host; requests come with Host: localhost:8080/
      ],
      [
        "nothing",
        await Effect.runPromise(perlImage("$SIG{TERM} = sub { exit 0 }; sleep 1 while 1")),
        /; nothing in the machine listens on any port: if it speaks MCP over stdio/
      ]
    ]
    await Promise.all(cases.map(async ([name, imageUri, problem]) => {
      const deployment = await deploy(await make(), imageUri)
      expect(deployment, name).toMatchObject({ status: "failed", active: false, admittedBy: null })
      expect(deployment.errorMessage, name).toMatch(problem)
    }))
  }, 60_000)

  it("asks as the gateway asks: the same Host, public names and tokens", async () => {
    const server = await make()
    await deploy(server, await image("streamable", [], [...noHealth, "SHOW=1"]))
    const { accessToken } = dataOf(
      await owner.post<{ data: { accessToken: string } }>(`${at(server)}/test-token`, undefined)
    )
    const client = await connectMcp(server.publicUrl, { token: accessToken })
    await client.listTools()
    await client.close()
    /** What a server may decide by, each request's in alphabetical order; of the token only that there is one. */
    const about = /^(host|x-forwarded-\w+|x-berth-gateway-token|authorization|content-type|accept):/
    const requests = async () =>
      (await logOf(server)).filter((line) => line.startsWith("/mcp ")).map((line) => line.slice(5).split("|"))
    await expect.poll(async () => (await requests()).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(6)
    const seen = await requests()
    const postOf = (agent: RegExp) =>
      seen.find((headers) =>
        headers.some((one) => agent.test(one)) && headers.includes("content-type: application/json")
      )
        ?.filter((one) => about.test(one)).map((one) => one.replace(/(authorization: bearer) .*/, "$1"))
    const [ours, theirs] = [postOf(/^user-agent: berth-handshake/), postOf(/^user-agent: (?!berth)/)]
    expect(ours).toEqual(theirs)
    expect(ours?.map((one) => one.split(":")[0])).toEqual([
      "accept",
      "authorization",
      "content-type",
      "host",
      "x-berth-gateway-token",
      "x-forwarded-for",
      "x-forwarded-host",
      "x-forwarded-prefix",
      "x-forwarded-proto"
    ])
  }, 60_000)
})
