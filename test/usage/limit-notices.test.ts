import { describe, expect, it } from "vitest"
import { dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { served, withDeployment } from "../support/served.ts"
import { runSql } from "../support/sql.ts"

describe("the owner of servers", () => {
  const berth = useBerth()

  it("is told in usage and in the server's log when half and four fifths of the month's requests are used", async () => {
    const owner = await berth.signUp("developer")
    const one = await served(owner, "told-in-time")
    await withDeployment(berth, one)
    const use = (requests: number) =>
      runSql(
        berth.databaseUrl,
        `INSERT INTO usage (account_id, period, request_count)
         SELECT id, usage_period(period_start, (now() AT TIME ZONE 'UTC')::date), $2 FROM users WHERE id = $1
         ON CONFLICT (account_id, period) DO UPDATE SET request_count = excluded.request_count`,
        [owner.id, requests]
      )
    const inUsage = async () => {
      const { limits } = dataOf(
        await owner.get<{ data: { limits: ReadonlyArray<{ limit: string; reached: number }> } }>("/v1/billing/usage")
      )
      return limits.find(({ limit }) => limit === "requestsPerMonth")
    }
    const inLog = async () => {
      berth.hurry(20_000)
      const { items } = dataOf(
        await owner.get<{ data: { items: ReadonlyArray<{ level: string; message: string }> } }>(
          `/v1/servers/${one.server.id}/logs`
        )
      )
      return items.map(({ level, message }) => `${level}: ${message}`).filter((line) => line.includes("used")).sort()
    }
    const said = (level: string, percent: number) =>
      `${level}: The account has used ${percent} % of the 100,000 requests that the developer plan allows a month`

    await use(49_999)
    expect(await inUsage()).toMatchObject({ used: 49_999, allowed: 100_000, reached: null })
    await use(50_000)
    expect(await inUsage()).toMatchObject({ used: 50_000, reached: 50 })
    await expect.poll(inLog, { timeout: 5_000 }).toEqual([said("info", 50)])
    await use(79_999)
    expect(await inUsage()).toMatchObject({ reached: 50 })
    await use(80_000)
    expect(await inUsage()).toMatchObject({ reached: 80 })
    await expect.poll(inLog, { timeout: 5_000 }).toEqual([said("info", 50), said("warn", 80)])
  })
})
