import { afterAll, describe, expect, it } from "vitest"
import { sleeper } from "../deployments/support/sleeper.ts"
import { dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { runSql } from "../support/sql.ts"
import { StartableMachines } from "../support/startable-machines.ts"

describe("a server's metrics over time", () => {
  const machines = new StartableMachines()
  const berth = useBerth({ machines: machines.layer })
  afterAll(machines.clear)

  interface Series {
    readonly stepSeconds: number
    readonly items: ReadonlyArray<
      { readonly startsAt: string; readonly requestCount: number; readonly errorCount: number }
    >
  }

  it("are steps without a gap whose sum is the period's", async () => {
    machines.conduct = { delay: 0, listener: (_, res) => void res.writeHead(500).end() }
    const one = await sleeper(berth, machines)
    const read = async (period: string) => {
      berth.hurry(3_000)
      return dataOf(
        await one.owner.get<{ data: Series }>(`/v1/servers/${one.server.id}/metrics/series?period=${period}`)
      )
    }
    const sum = ({ items }: Series) => items.reduce((all, { requestCount }) => all + requestCount, 0)
    expect(sum(await read("24h"))).toBe(0)
    for (let i = 0; i < 3; i++) await one.ask("/")
    await expect.poll(async () => sum(await read("1h"))).toBe(3)
    const steps = { "1h": [60, 61], "24h": [3600, 25], "7d": [6 * 3600, 29], "30d": [24 * 3600, 31] } as const
    for (const [period, [seconds, count]] of Object.entries(steps)) {
      const series = await read(period)
      expect([series.stepSeconds, series.items.length, sum(series)]).toEqual([seconds, count, 3])
      const at = series.items.map(({ startsAt }) => Date.parse(startsAt) / 1000)
      expect(at.every((one, i) => one % seconds === 0 && (i === 0 || one - at[i - 1]! === seconds))).toBe(true)
    }
    await runSql(
      berth.databaseUrl,
      "UPDATE server_requests SET began_at = began_at - interval '30 minutes' WHERE server_id = $1",
      [one.server.id]
    )
    const { items } = await read("1h")
    const [busy] = items.filter(({ requestCount }) => requestCount > 0)
    expect(busy).toMatchObject({ requestCount: 3, errorCount: 3, p99LatencyMs: expect.any(Number) })
    expect(items.filter(({ requestCount }) => requestCount === 0)[0]).toMatchObject({
      errorCount: 0,
      avgLatencyMs: 0,
      p99LatencyMs: 0
    })
  })
})
