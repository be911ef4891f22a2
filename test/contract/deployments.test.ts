import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { appImage, missingForApps } from "../deployments/support/app-image.ts"
import { type Account, dataOf, type Listed, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"
import { failure, id, invalid, text, timestamp } from "./shapes.ts"

interface Deployment {
  readonly id: string
  readonly version: number
  readonly status: string
  readonly errorMessage?: string
}

/** The tests' image serves no MCP: a deployment says so. */
const mcp = {
  ok: false,
  transport: null,
  revision: null,
  toolCount: 0,
  tools: [],
  problem: expect.stringContaining("not a JSON-RPC answer")
}

const deployment = (fields: Readonly<Record<string, unknown>> = {}) => ({
  id: id("dep"),
  serverId: id("srv"),
  status: "running",
  imageUri: text,
  version: 1,
  type: "deploy",
  active: true,
  imageDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
  args: null,
  command: null,
  transport: null,
  processes: null,
  packageScripts: false,
  node: null,
  freshDependencies: false,
  package: null,
  admittedBy: "health",
  progress: null,
  trivyScanResult: null,
  createdAt: timestamp,
  deployedAt: timestamp,
  mcp,
  ...fields
})

describeLong("deployments", () => {
  const berth = useBerth({ machines: true })
  let owner: Account
  let project: Project
  let image = ""

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    project = await owner.project()
    image = await Effect.runPromise(appImage("healthy"))
  })
  afterAll(() => owner.delete(`/v1/projects/${project.id}`))

  const deploy = (server: Server, imageUri = image, headers: Readonly<Record<string, string>> = {}) =>
    owner.request<{ data: Deployment }>("POST", `/v1/servers/${server.id}/deploy`, { body: { imageUri }, headers })
  const rollback = (server: Server, version: unknown) =>
    owner.post<{ data: Deployment }>(`/v1/servers/${server.id}/rollback`, { version })
  const statusOf = async (server: Server) =>
    dataOf(await owner.get<{ data: Server }>(`/v1/servers/${server.id}`)).status
  const tokenFor = async (server: Server) =>
    dataOf(await owner.post<{ data: { accessToken: string } }>(`/v1/servers/${server.id}/test-token`, undefined))
      .accessToken
  const machineEnv = async (server: Server) =>
    (await berth.request<Readonly<Record<string, string>>>("GET", `/s/${server.slug}/env`, {
      token: await tokenFor(server)
    })).body

  row(
    "POST /v1/servers/:serverId/deploy { imageUri } → 201 { data: deployment } after the pipeline completes",
    async () => {
      const server = await owner.server(project.id)
      const answer = await deploy(server)
      expect([answer.status, answer.body]).toEqual([201, {
        data: deployment({ serverId: server.id, imageUri: image })
      }])
      expect(await statusOf(server)).toBe("running")
      for (const body of [{}, { imageUri: "" }, { imageUri: 7 }, { imageUri: null }, { imageUri: "UPPER/Case" }]) {
        const refused = await owner.post(`/v1/servers/${server.id}/deploy`, body)
        expect([refused.status, refused.body], JSON.stringify(body)).toEqual([422, invalid("imageUri")])
      }
      const pending = await deploy(server, image, { prefer: "respond-async" })
      expect([pending.status, pending.body]).toEqual([202, {
        data: deployment({
          status: "pending",
          version: 2,
          active: false,
          imageDigest: null,
          admittedBy: null,
          progress: "Waiting to begin",
          deployedAt: null,
          mcp: null
        })
      }])
      expect(pending.headers.get("location")).toBe(`/v1/servers/${server.id}/deployments/${pending.body.data.id}`)
      const twin = await deploy(server)
      expect([twin.status, twin.body]).toEqual([409, failure("DEPLOYMENT_IN_PROGRESS")])
    }
  )

  row(
    "a deployment has id, serverId, status, imageUri, version, trivyScanResult, errorMessage, createdAt, deployedAt",
    async () => {
      const server = await owner.server(project.id)
      const failed = await deploy(server, `${image}-that-is-not-there`)
      expect([failed.status, failed.body]).toEqual([201, {
        data: deployment({
          status: "failed",
          active: false,
          imageDigest: null,
          admittedBy: null,
          deployedAt: null,
          mcp: null,
          errorMessage: expect.stringMatching(/\S/)
        })
      }])
      const good = await deploy(server)
      expect(good.body.data).not.toHaveProperty("errorMessage")
      expect(good.body.data.version).toBe(2)
    }
  )

  row("GET /v1/servers/:serverId/deployments → 200 deployments, newest first", async () => {
    const server = await owner.server(project.id)
    const path = `/v1/servers/${server.id}/deployments`
    expect((await owner.get(path)).body).toEqual({ data: [], meta: { cursor: null, hasMore: false, total: 0 } })
    const made: Array<Deployment> = []
    for (let i = 0; i < 3; i++) made.unshift(dataOf(await deploy(server, "oci:/nowhere")))
    const page = await owner.get<Listed<Deployment>>(`${path}?limit=2`)
    expect([page.status, page.body]).toEqual([200, {
      data: made.slice(0, 2),
      meta: { cursor: text, hasMore: true, total: 3 }
    }])
    expect((await owner.get(`${path}?limit=2&cursor=${page.body.meta.cursor}`)).body).toEqual({
      data: made.slice(2),
      meta: { cursor: null, hasMore: false, total: 3 }
    })
    expect(made.map(({ version }) => version)).toEqual([3, 2, 1])
  })

  row("POST /v1/servers/:serverId/rollback { version } → 201 new deployment object", async () => {
    const server = await owner.server(project.id)
    const first = dataOf(await deploy(server))
    await deploy(server)
    const answer = await rollback(server, 1)
    expect([answer.status, answer.body]).toEqual([201, {
      data: deployment({ serverId: server.id, version: 3, type: "rollback", imageUri: image })
    }])
    expect(answer.body.data.id).not.toBe(first.id)
    const { data } = (await owner.get<Listed<Deployment>>(`/v1/servers/${server.id}/deployments`)).body
    expect(data).toMatchObject([
      { version: 3, status: "running", active: true },
      { version: 2, status: "rolled_back", active: false },
      { version: 1, status: "running", active: false }
    ])
    const unknown = await rollback(server, 99)
    expect([unknown.status, unknown.body]).toEqual([404, failure("NOT_FOUND")])
    for (const version of [undefined, 0, -1, 1.5, "1", null]) {
      const refused = await rollback(server, version)
      expect([refused.status, refused.body], String(version)).toEqual([422, invalid("version")])
    }
  })

  row("deployments kept for rollback: free 3, others 10", async () => {
    const free = await berth.signUp()
    const own = await free.project()
    const server = await free.server(own.id)
    const request = (path: string, body: unknown) => free.post(`/v1/servers/${server.id}/${path}`, body)
    for (let i = 0; i < 5; i++) expect((await request("deploy", { imageUri: image })).status).toBe(201)
    const gone = await request("rollback", { version: 1 })
    expect([gone.status, gone.body]).toEqual([409, failure("CONFLICT")])
    expect((await request("rollback", { version: 2 })).status).toBe(201)
    await free.delete(`/v1/projects/${own.id}`)
  })

  it("a paid plan keeps ten, whatever more the server's own count says", async () => {
    const account = await berth.signUp("developer")
    const own = await account.project()
    const server = await account.server(own.id)
    expect((await account.patch(`/v1/servers/${server.id}`, { deploymentRetentionCount: 100 })).status).toBe(200)
    const request = (path: string, body: unknown) => account.post(`/v1/servers/${server.id}/${path}`, body)
    for (let i = 0; i < 13; i++) expect((await request("deploy", { imageUri: image })).status).toBe(201)
    for (const version of [1, 2]) {
      const gone = await request("rollback", { version })
      expect([gone.status, gone.body]).toEqual([409, failure("CONFLICT")])
    }
    expect((await request("rollback", { version: 3 })).status).toBe(201)
    await account.delete(`/v1/projects/${own.id}`)
  }, 60_000)

  it("an account that goes back to a smaller plan can roll back to what it could before", async () => {
    const account = await berth.signUp("developer")
    const own = await account.project()
    const server = await account.server(own.id)
    const request = (path: string, body: unknown) => account.post(`/v1/servers/${server.id}/${path}`, body)
    for (let i = 0; i < 5; i++) expect((await request("deploy", { imageUri: image })).status).toBe(201)
    await runSql(berth.databaseUrl, "UPDATE users SET plan = 'free' WHERE id = $1", [account.id])
    expect((await request("rollback", { version: 1 })).status).toBe(201)
    await account.delete(`/v1/projects/${own.id}`)
  })

  row("deployments need deployments:read to read and deployments:write to change", async () => {
    const server = await owner.server(project.id)
    const [reader, writer] = [
      await owner.holder(project.id, ["deployments:read"]),
      await owner.holder(project.id, ["deployments:write"])
    ]
    const path = `/v1/servers/${server.id}`
    const body = { imageUri: "oci:/nowhere" }
    expect((await reader.get(`${path}/deployments`)).status).toBe(200)
    expect((await reader.post(`${path}/deploy`, body)).status).toBe(403)
    expect((await reader.post(`${path}/rollback`, { version: 1 })).status).toBe(403)
    expect((await writer.post(`${path}/deploy`, body)).status).toBe(201)
    expect((await writer.post(`${path}/rollback`, { version: 1 })).status).toBe(409)
    expect((await writer.get(`${path}/deployments`)).status).toBe(403)
    expect((await writer.get(path)).status).toBe(403)
  })

  row("a server's status is provisioning, running, stopped, error or deleted", async () => {
    const server = await owner.server(project.id)
    const act = async (name: string) => (await owner.request("POST", `/v1/servers/${server.id}/${name}`)).status
    expect(await statusOf(server)).toBe("provisioning")
    expect(await act("start")).toBe(409)
    await deploy(server)
    expect(await statusOf(server)).toBe("running")
    expect([await act("stop"), await statusOf(server)]).toEqual([200, "stopped"])
    expect([await act("start"), await statusOf(server)]).toEqual([200, "running"])
    expect([await act("restart"), await statusOf(server)]).toEqual([200, "running"])
    const broken = await owner.server(project.id, { healthTimeoutSeconds: 1 })
    const crash = await Effect.runPromise(appImage("crash"))
    expect((await deploy(broken, crash)).body.data.status).toBe("failed")
    expect(await statusOf(broken)).toBe("error")
    // A deleted server is not there any more.
    await owner.delete(`/v1/servers/${server.id}`)
    expect((await owner.get(`/v1/servers/${server.id}`)).status).toBe(404)
  })

  row("values of reserved environment names are ignored at deploy time; the platform's wins", async () => {
    const server = await owner.server(project.id, { slug: "reserved-names", healthTimeoutSeconds: 29 })
    const reserved = {
      AUTO_STOP_SECONDS: "300",
      HEALTH_CHECK_PATH: "/healthz",
      HEALTH_CHECK_TIMEOUT_SECONDS: "29",
      SERVER_SUBDOMAIN: expect.stringMatching(/^reserved-names(\.|$)/),
      OAUTH_BASE_URL: berth.url,
      SVC_MCP_PUBLIC_URL: `${berth.url}/s/reserved-names`,
      PLATFORM_MCP_REPLAY_TOKEN: expect.stringMatching(/^\S{20,}$/)
    }
    for (const name of [...Object.keys(reserved), "PORT"]) {
      await owner.put(`/v1/servers/${server.id}/env/${name}`, { value: "mine" })
    }
    await owner.put(`/v1/servers/${server.id}/env/MY_OWN`, { value: "kept ünï \"quoted\"" })
    await deploy(server)
    const env = await machineEnv(server)
    expect(env).toMatchObject({ ...reserved, PORT: "8080" })
    expect(env["MY_OWN"]).toBe("kept ünï \"quoted\"")
    // Changes count from the next deployment on.
    await owner.put(`/v1/servers/${server.id}/env/MY_OWN`, { value: "new" })
    await owner.delete(`/v1/servers/${server.id}/env/SERVER_SUBDOMAIN`)
    expect((await machineEnv(server))["MY_OWN"]).toBe("kept ünï \"quoted\"")
    expect((await deploy(server)).body.data).toMatchObject({ status: "running" })
    expect((await machineEnv(server))["MY_OWN"]).toBe("new")
  })

  row("each server is reachable at {slug}.{mcp_domain}", async () => {
    const server = await owner.server(project.id, { slug: "by-two-names" })
    await deploy(server)
    const token = await tokenFor(server)
    const byPath = await berth.request("GET", "/s/by-two-names/anything?x=1", { token })
    expect([byPath.status, byPath.body]).toEqual([200, { ok: true }])
    const host = `by-two-names.mcp.localhost:${new URL(berth.url).port}`
    const byHost = await berth.request("GET", "/anything?x=1", { token, headers: { host } })
    expect([byHost.status, byHost.body]).toEqual([200, { ok: true }])
    const unknown = await berth.request("GET", "/", { token, headers: { host: host.replace("two", "three") } })
    expect(unknown.status).toBe(404)
  })

  row(
    "GET /.well-known/oauth-protected-resource → resource, authorization_servers, scopes, bearer methods (RFC 9728)",
    async () => {
      const server = await owner.server(project.id, { slug: "well-known-one" })
      const host = `well-known-one.mcp.localhost:${new URL(berth.url).port}`
      const document = (resource: string) => ({
        resource,
        authorization_servers: [berth.url],
        scopes_supported: ["mcp:read", "mcp:write", "mcp:execute", "offline_access"],
        bearer_methods_supported: ["header"]
      })
      const path = "/.well-known/oauth-protected-resource"
      const byHost = await berth.request("GET", path, { headers: { host } })
      expect([byHost.status, byHost.body]).toEqual([200, document(`http://${host}`)])
      const byPath = await berth.request("GET", `${path}/s/${server.slug}`)
      expect([byPath.status, byPath.body]).toEqual([200, document(server.publicUrl)])
      const refused = await berth.request("GET", `/s/${server.slug}/mcp`)
      expect(refused.status).toBe(401)
      expect(refused.headers.get("www-authenticate"))
        .toContain(`resource_metadata="${berth.url}${path}/s/${server.slug}/mcp"`)
    }
  )

  row("a token for one server is not valid for another", async () => {
    const [one, two] = [await owner.server(project.id), await owner.server(project.id)]
    await Promise.all([deploy(one), deploy(two)])
    const token = await tokenFor(one)
    expect((await berth.request("GET", `/s/${one.slug}/`, { token })).status).toBe(200)
    for (const wrong of [token, owner.token, (await owner.key(project.id)).key, "x.y.z", `${token}x`]) {
      const answer = await berth.request("GET", `/s/${two.slug}/`, { token: wrong })
      expect(answer.status).toBe(401)
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer .*error="invalid_token"/)
    }
    // Nor is it any credential of the platform's own.
    expect((await berth.request("GET", "/v1/projects", { token })).status).toBe(401)
  })

  row("byoa passes a syntactically valid Bearer token on unchanged, and rejects others", async () => {
    const server = await owner.server(project.id)
    await deploy(server)
    const byoaConfig = Object.fromEntries(
      ["issuer", "jwksUri", "authorizationEndpoint", "tokenEndpoint"].map((
        name
      ) => [name, `https://id.example.com/${name}`])
    )
    await owner.put(`/v1/servers/${server.id}/auth`, { authMode: "byoa", byoaConfig })
    const ask = (headers: Readonly<Record<string, string>>) => berth.request("GET", `/s/${server.slug}/`, { headers })
    for (const authorization of ["Bearer opaque-token_1.~+/==", "bearer eyJ.x.y"]) {
      expect((await ask({ authorization })).status, authorization).toBe(200)
    }
    for (
      const authorization of [undefined, "", "Bearer", "Bearer ", "Bearer a b", "Basic YTpi", "Bearer tok€n", "opaque"]
    ) {
      const answer = await ask(
        authorization === undefined ? {} : { authorization: Buffer.from(authorization).toString("latin1") }
      )
      expect(answer.status, String(authorization)).toBe(401)
    }
    const none = await owner.request("POST", `/v1/servers/${server.id}/test-token`)
    expect([none.status, none.body]).toEqual([409, failure("CONFLICT")])
    const metadata = await berth.request("GET", `/.well-known/oauth-protected-resource/s/${server.slug}`)
    expect(metadata.body).toMatchObject({
      authorization_servers: ["https://id.example.com/issuer"],
      scopes_supported: ["mcp:read", "mcp:write", "mcp:execute", "offline_access"],
      jwks_uri: "https://id.example.com/jwksUri"
    })
  })
}, missingForApps)
