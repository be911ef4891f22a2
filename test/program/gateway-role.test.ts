import { afterAll, beforeAll, expect, it } from "vitest"
import { freePort, send } from "../support/http.ts"
import { describeLong } from "../support/needs.ts"
import { childrenOf } from "./support/gateways.ts"
import { type Owner, owner } from "./support/owner.ts"
import { ask, keepAsking } from "./support/probe.ts"
import { type Place, type Program, run, useProgram } from "./support/program.ts"

const path = "/s/copper-ladle/mcp"

describeLong("gateways beside the platform", () => {
  const platform = useProgram()
  let place: Place
  let gateways: Program
  let base: string
  let token: string
  let me: Owner
  let metricsPort: number

  const start = (at: Place, ...args: ReadonlyArray<string>) =>
    run(at, ["node", "dist/berth.js", "serve", ...args], {
      BASE_URL: platform().url,
      METRICS_PORT: String(metricsPort)
    })
  const asked = async () => {
    const { body } = await me.request<{ data: { usage: { requestCount: number } } }>("GET", "/v1/billing")
    return body.data.usage.requestCount
  }

  beforeAll(async () => {
    place = { ...platform().place, port: await freePort() }
    base = `http://127.0.0.1:${place.port}`
    metricsPort = await freePort()
    gateways = start(place, "--role", "gateway", "--processes", "2")
    await gateways.printed(/ready on .*, with 2 processes/)
    me = await owner(platform())
    token = await me.testToken()
  }, 60_000)
  afterAll(async () => {
    await gateways.end("SIGTERM")
  })

  it("pass requests on to hosted servers, with the platform's tokens", async () => {
    expect(await ask(base, path, token)).toMatchObject({ status: 200, name: "Copper Ladle" })
    expect(await ask(base, path, undefined)).toMatchObject({ status: 401 })
    expect(await ask(base, "/s/nobody/mcp", token)).toMatchObject({ status: 404 })
  })

  it("tell Prometheus of requests at one port, each process its own", async () => {
    await Promise.all(Array.from({ length: 20 }, () => ask(base, "/s/nobody/mcp", undefined)))
    const read = async () => await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    const processes = async () =>
      new Set([...(await read()).matchAll(/_duration_seconds_count\{.*http_route="\/s\/\{slug\}".*process="(\d)"/g)]
        .map(([, process]) => process)).size
    await expect.poll(processes, { timeout: 10_000 }).toBe(2)
    expect((await read()).match(/^# TYPE http_server_request_duration_seconds /gm)).toHaveLength(1)
  }, 20_000)

  it("tell their health, and where the platform is", async () => {
    expect((await send(base, "GET", "/v1/health")).body).toMatchObject({ status: "ok", services: { database: "up" } })
    const { body, status } = await send<{ error: { code: string; message: string } }>(base, "GET", "/v1/projects")
    expect([status, body.error.code]).toEqual([421, "MISDIRECTED_REQUEST"])
    expect(body.error.message).toContain(platform().url)
  })

  it("count each request once, whichever process takes it", async () => {
    const replies = await Promise.all(Array.from({ length: 60 }, () => ask(base, path, token)))
    expect(replies.filter(({ status }) => status !== 200)).toEqual([])
    // Those, and the one of the test before.
    await expect.poll(asked, { timeout: 10_000, interval: 200 }).toBe(61)
  })

  it("hear of a server that is stopped and started", async () => {
    await me.request("POST", `/v1/servers/${me.serverId}/stop`)
    await expect.poll(async () => (await ask(base, path, token)).status, { timeout: 5_000 }).toBe(503)
    await me.request("POST", `/v1/servers/${me.serverId}/start`)
    await expect.poll(async () => (await ask(base, path, token)).status, { timeout: 5_000 }).toBe(200)
  }, 30_000)

  it("are started again when they end, while the others serve", async () => {
    const [first] = childrenOf(gateways.pid)
    const asking = keepAsking(base, path, token)
    process.kill(first!, "SIGKILL")
    await gateways.printed(/Gateway process \d ended by SIGKILL; starting it again in 1 s/)
    await expect.poll(() => childrenOf(gateways.pid).filter((pid) => pid !== first).length, { timeout: 10_000 }).toBe(2)
    await asking.stop()
    // What the process had taken is lost with it.
    expect(asking.replies.filter(({ status }) => status !== 200).length).toBeLessThanOrEqual(1)
  }, 30_000)

  it("say once what keeps them from starting, and end", async () => {
    const twice = start(place, "--role", "gateway", "--processes", "2")
    await twice.printed(/something listens there already/)
    expect(await twice.end("SIGCONT")).toEqual({ code: 1, signal: null })
    expect(twice.output().match(/something listens there already/g)).toHaveLength(1)
    const unaddressed = run(place, ["node", "dist/berth.js", "serve", "--role", "gateway", "--processes", "2"])
    await unaddressed.printed(/BASE_URL is required with --role gateway/)
    expect(await unaddressed.end("SIGCONT")).toEqual({ code: 1, signal: null })
    const alone = start(place, "--processes", "2")
    await alone.printed(/--processes is for --role gateway/)
  }, 30_000)
})
