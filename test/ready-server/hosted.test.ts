import { openMachinePaths, socketPath } from "#src/machines/sandbox/paths.ts"
import { buildReadyImage } from "#src/ready-image/build-image.ts"
import { copyFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { type Flow, newFlow, replayToken } from "../support/oauth.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { readyServerBundle } from "./bundle.ts"
import { restaurant } from "./config.ts"

const notLinux = process.platform === "linux" ? undefined : "the ready image is made of this Node, on Linux only"

const call = { jsonrpc: "2.0", id: 1, method: "tools/list" }
const mcpHeaders = { accept: "application/json, text/event-stream", "content-type": "application/json" }

/** Platform, gateway, machine and the machine's way back to the platform, all of them real. */
describeLong("a ready server that is deployed", () => {
  const home = temporaryDirectory("hosted")
  const berth = useBerth({ machines: true, variables: { BERTH_HOME: home } })
  /** Everything that was answered to anybody. */
  const answered: Array<string> = []
  let flow: Flow
  let replay: string
  let deploymentId: string

  beforeAll(async () => {
    flow = await newFlow(berth)
    const bundle = join(temporaryDirectory("ready"), "server.js")
    copyFileSync(await readyServerBundle(), bundle)
    const { path } = await buildReadyImage(join(temporaryDirectory("ready"), "layout"), { server: bundle })
    await flow.owner.put(`/v1/servers/${flow.server.id}/env/SVC_READY_CONFIG`, { value: JSON.stringify(restaurant) })
    const deployed = await flow.owner.request<{ readonly data: { readonly id: string; readonly status: string } }>(
      "POST",
      `/v1/servers/${flow.server.id}/deploy`,
      { body: { imageUri: `oci:${path}` } }
    )
    if (deployed.body.data.status !== "running") throw new Error(deployed.text)
    deploymentId = deployed.body.data.id
    replay = await replayToken(berth, flow.server.id)
  }, 120_000)
  afterAll(() => flow?.owner.delete(`/v1/projects/${flow.project.id}`))

  const ask = async (method: string, path: string, token: string | undefined, headers: Record<string, string> = {}) => {
    const answer = await berth.request<{ readonly error?: { readonly message: string } }>(
      method,
      `/s/${flow.server.slug}${path}`,
      { token, headers: { ...mcpHeaders, ...headers }, ...(method === "POST" ? { body: call } : {}) }
    )
    answered.push(JSON.stringify([...answer.headers]), answer.text)
    return answer
  }

  /** Past the gateway, at the machine's own socket. */
  const direct = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const socket = socketPath(openMachinePaths(home), deploymentId)
      request(
        { socketPath: socket, method: "POST", path: "/mcp", headers: { ...mcpHeaders, ...headers } },
        (response) =>
          void text(response).then((body) => {
            answered.push(JSON.stringify(response.rawHeaders), body)
            resolve(response.statusCode)
          })
      )
        .on("error", reject).end(JSON.stringify(call))
    })

  it("serves a caller whose token the authorization server calls active", async () => {
    const { access_token } = await flow.tokens()
    const { body, status } = await ask("POST", "/mcp", access_token)
    expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining("browse_catalog")])
  })

  it("serves nobody who did not pass the gateway, a good token or not", async () => {
    const authorization = `Bearer ${(await flow.tokens()).access_token}`
    expect(await direct({ authorization })).toBe(403)
    expect(await direct({ authorization, "x-berth-gateway-token": "guessed" })).toBe(403)
    expect(await direct({ authorization, "x-berth-gateway-token": replay })).toBe(200)
    // What a caller sends in its place goes no further than the gateway.
    const { access_token } = await flow.tokens()
    expect((await ask("POST", "/mcp", access_token, { "x-berth-gateway-token": "guessed" })).status).toBe(200)
  })

  it("does not let anybody post into another's SSE session (SSE hijack), by its id and a good token of his own", async () => {
    const thief = await newFlow(berth)
    const stolen = (await flow.tokens()).access_token
    const other = await thief.tokens({ resource: flow.server.publicUrl })
    const stream = await fetch(`${berth.url}/s/${flow.server.slug}/sse`, {
      headers: { authorization: `Bearer ${stolen}`, "x-forwarded-for": "198.51.100.9" }
    })
    const reader = stream.body!.getReader()
    const first = new TextDecoder().decode((await reader.read()).value)
    const id = /sessionId=([\w-]+)/.exec(first)?.[1]
    expect((await ask("POST", `/message?sessionId=${id}`, other.access_token)).status).toBe(404)
    // A session outlives the token it was opened with: the same user and client go on in it.
    expect((await ask("POST", `/message?sessionId=${id}`, (await flow.tokens()).access_token)).status).toBe(202)
    await reader.cancel()
  })

  it("asks at OAUTH_BASE_URL for itself: a token that is active no more is 401, said by the server", async () => {
    const { access_token: before } = await flow.tokens()
    const { access_token: fresh } = await flow.tokens()
    expect((await ask("POST", "/mcp", before)).status).toBe(200)
    // The gateway goes by the signature; that the user is gone only the authorization server knows.
    await runSql(berth.databaseUrl, "DELETE FROM users WHERE id = $1", [flow.user.id])
    const refused = await ask("POST", "/mcp", fresh)
    expect([refused.status, refused.body.error?.message]).toEqual([401, expect.stringContaining("was revoked")])
    expect(refused.headers.get("www-authenticate")).toContain("resource_metadata=")
  })

  it("keeps the replay token between itself and the platform: no answer and no log line holds it", async () => {
    for (const path of ["/mcp", "/healthz", "/nowhere", "/.well-known/oauth-protected-resource"]) {
      for (const token of [undefined, "nonsense"]) await ask("GET", path, token)
    }
    await ask("GET", "/../.well-known/oauth-protected-resource", undefined)
    for (const path of ["", "/env", "/logs?limit=200", "/deployments"]) {
      const { headers, text } = await flow.owner.request("GET", `/v1/servers/${flow.server.id}${path}`)
      answered.push(JSON.stringify([...headers]), text)
    }
    expect(answered.length).toBeGreaterThan(30)
    expect(replay.length).toBeGreaterThan(20)
    for (const said of [...answered, ...berth.logged]) expect(said).not.toContain(replay)
  })
}, notLinux)
