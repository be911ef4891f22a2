import { plans } from "#src/plans/Plan.ts"
import { ulid } from "ulid"
import { describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { runSql } from "../support/sql.ts"

const day = 24 * 60 * 60_000
const every = 10 * 60_000

describe("a server's log", () => {
  const berth = useBerth()

  const withLines = async (owner: Account, ages: ReadonlyArray<number>) => {
    const server = await owner.server((await owner.project()).id)
    const times = ages.map((age) => Date.now() - age * day)
    await runSql(
      berth.databaseUrl,
      `INSERT INTO server_logs (id, server_id, level, message, timestamp)
       SELECT id, $1, 'info', 'line', at FROM unnest($2::text[], $3::timestamptz[]) AS line(id, at)`,
      [server.id, times.map((at) => `log_${ulid(at)}`), times.map((at) => new Date(at))]
    )
    return async () => {
      berth.hurry(every)
      const { body } = await owner.get<{ data: { items: ReadonlyArray<unknown> } }>(`/v1/servers/${server.id}/logs`)
      return body.data.items.length
    }
  }

  it("keeps lines as many days as the plan has", async () => {
    const ages = [0, plans.free.logDays - 0.1, plans.free.logDays + 0.1, plans.pro.logDays + 0.1]
    const [free, pro] = [
      await withLines(await berth.signUp("free"), ages),
      await withLines(await berth.signUp("pro"), ages)
    ]
    await expect.poll(free).toBe(2)
    await expect.poll(pro).toBe(3)
  })

  it("keeps as many lines as the plan has, the newest", async () => {
    const owner = await berth.signUp("free")
    const server = await owner.server((await owner.project()).id)
    const { logLines } = plans.free
    await runSql(
      berth.databaseUrl,
      `INSERT INTO server_logs (id, server_id, level, message, timestamp)
       SELECT 'log_' || $2 || lpad(n::text, 6, '0'), $1, 'info', 'line ' || n, now() FROM generate_series(1, $3::int) n`,
      [server.id, ulid().slice(0, 20), logLines + 5]
    )
    const kept = async () => {
      berth.hurry(every)
      const [row] = await runSql(
        berth.databaseUrl,
        "SELECT count(*)::int, min(id) AS first FROM server_logs WHERE server_id = $1",
        [server.id]
      )
      return [row?.["count"], String(row?.["first"]).slice(-2)]
    }
    await expect.poll(kept, { timeout: 20_000 }).toEqual([logLines, "06"])
  })
})
