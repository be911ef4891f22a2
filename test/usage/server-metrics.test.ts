import { clientLayer } from "#sql/Client.ts"
import { ServerRequestsRepo } from "#src/usage/ServerRequestsRepo.ts"
import { Effect, Layer, Redacted } from "effect"
import { type RequestListener } from "node:http"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { type Sleeper, sleeper } from "../deployments/support/sleeper.ts"
import { dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { runSql } from "../support/sql.ts"
import { StartableMachines } from "../support/startable-machines.ts"

interface Figures {
  readonly requestCount: number
  readonly errorCount: number
  readonly avgLatencyMs: number
  readonly p99LatencyMs: number
}

const none: Figures = { requestCount: 0, errorCount: 0, avgLatencyMs: 0, p99LatencyMs: 0 }

/** `/200/50` answers with 200 after 50 ms; `/stream` opens a stream of events, and ends it after half a second. */
const answering: RequestListener = (req, res) => {
  req.resume()
  const [, status = "200", millis = "0"] = (req.url ?? "").split("/")
  if (status === "stream") {
    res.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n")
    return void setTimeout(() => res.end(), 500)
  }
  setTimeout(
    () => res.writeHead(Number(status) || 200, { "content-type": "application/json" }).end("{}"),
    Number(millis)
  )
}

describe("a server's metrics", () => {
  const machines = new StartableMachines()
  const berth = useBerth({ machines: machines.layer })
  beforeEach(() => void (machines.conduct = { delay: 0, listener: answering }))
  afterAll(machines.clear)

  const metricsOf = async ({ owner, server }: Sleeper, period = "1h") => {
    berth.hurry(3_000)
    return dataOf(await owner.get<{ data: Figures }>(`/v1/servers/${server.id}/metrics?period=${period}`))
  }
  const counted = (one: Sleeper, requestCount: number) =>
    expect.poll(async () => (await metricsOf(one)).requestCount).toBe(requestCount)
  /** What a job does every ten minutes. */
  const fold = () =>
    Effect.flatMap(ServerRequestsRepo, (repo) => repo.fold).pipe(
      Effect.provide(Layer.provide(ServerRequestsRepo.Default, clientLayer(Redacted.make(berth.databaseUrl), 1))),
      Effect.runPromise
    )
  const sql = (one: Sleeper, statement: string) => runSql(berth.databaseUrl, statement, [one.server.id])

  it("count what was passed to it, its errors, and how long its answers took", async () => {
    const [one, other] = [await sleeper(berth, machines), await sleeper(berth, machines)]
    expect(await metricsOf(one)).toEqual(none)
    for (let i = 0; i < 8; i++) expect((await one.ask("/200/20")).status).toBe(200)
    expect((await one.ask("/404/20")).status).toBe(404)
    expect((await one.ask("/503/400")).status).toBe(503)
    await counted(one, 10)
    const { avgLatencyMs, p99LatencyMs, ...rest } = await metricsOf(one)
    expect(rest).toEqual({ requestCount: 10, errorCount: 1 })
    expect(avgLatencyMs).toBeGreaterThan(50)
    expect(avgLatencyMs).toBeLessThan(p99LatencyMs)
    expect(p99LatencyMs).toBeGreaterThan(390)
    expect(p99LatencyMs).toBeLessThan(4_000)
    expect(await metricsOf(other)).toEqual(none)
  })

  it("leave out what never reached it, and tell of no time where a stream was open", async () => {
    const one = await sleeper(berth, machines)
    expect((await one.ask("/200", { token: "wrong" })).status).toBe(401)
    expect((await one.ask("/stream")).status).toBe(200)
    await counted(one, 1)
    expect(await metricsOf(one)).toEqual({ ...none, requestCount: 1 })
  })

  it("count a machine that is not reached as an error", async () => {
    const one = await sleeper(berth, machines)
    machines.refuse(one.machine)
    expect((await one.ask("/200")).status).toBe(502)
    await counted(one, 1)
    expect((await metricsOf(one)).errorCount).toBe(1)
  })

  it("are those of the period, by the hour once they are old, and are dropped after a month", async () => {
    const one = await sleeper(berth, machines)
    for (let i = 0; i < 3; i++) await one.ask("/500/30")
    await counted(one, 3)
    const before = await metricsOf(one)
    const age = async (by: string) => {
      await sql(one, `UPDATE server_requests SET began_at = began_at - interval '${by}' WHERE server_id = $1`)
    }
    const inPeriods = () => Promise.all(["1h", "24h", "7d", "30d"].map((period) => metricsOf(one, period)))
    await age("2 hours")
    expect(await inPeriods()).toEqual([none, before, before, before])
    await age("2 days")
    expect(await inPeriods()).toEqual([none, none, before, before])
    const kept = async () =>
      (await sql(one, "SELECT DISTINCT is_hour FROM server_requests WHERE server_id = $1")) as ReadonlyArray<object>
    await Promise.all([fold(), fold()])
    expect(await kept()).toEqual([{ is_hour: true }])
    expect(await inPeriods()).toEqual([none, none, before, before])
    await age("10 days")
    expect(await inPeriods()).toEqual([none, none, none, before])
    await age("30 days")
    await fold()
    expect(await kept()).toEqual([])
  })
})
