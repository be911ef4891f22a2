import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { afterProbe, firstHistory, healthScore } from "./health-history.ts"
import { ServerHealthRepo } from "./ServerHealthRepo.ts"

/** A probe of the machine that served a server in this generation. */
export interface ProbeResult {
  readonly serverId: string
  readonly generation: number
  /** Why it was not good; null when it was. */
  readonly failure: string | null
}

/** The health score of servers: what their probes have found (docs/decisions/health-score.md). */
export class ServerHealth extends Effect.Service<ServerHealth>()("servers/ServerHealth", {
  effect: Effect.gen(function*() {
    const repo = yield* ServerHealthRepo
    const sql = yield* SqlClient.SqlClient

    /**
     * A deployment has passed its checks by this health path. The first one begins the server's history; the others
     * leave it as it is, so that nobody deploys bad hours away.
     */
    const checked = (serverId: string, path: string) =>
      repo.begin(serverId, path, firstHistory, healthScore(firstHistory))

    /**
     * Counts probes, each of which stands for `seconds` of running. Those of a server that was stopped, deleted or
     * deployed meanwhile don't count, nor a second one within half of the time: another host has probed it. Returns
     * the results that changed from good to bad or back.
     */
    const record = Effect.fn("ServerHealth.record")(
      function*(results: ReadonlyArray<ProbeResult>, seconds: number) {
        if (results.length === 0) return []
        const byServer = new Map(results.map((result) => [result.serverId, result]))
        // The servers first, as a deployment's swap locks them.
        const counted = (yield* repo.running([...byServer.keys()]))
          .filter(({ generation, id }) => byServer.get(id)?.generation === generation)
          .map(({ id }) => id)
        if (counted.length === 0) return []
        yield* repo.addMissing(counted)
        const due = (yield* repo.lock(counted, seconds / 2)).filter(({ isDue }) => isDue)
        const rows = due.map((row) => {
          const failure = byServer.get(row.serverId)?.failure ?? null
          const history = afterProbe(row, failure === null, seconds)
          return { ...history, serverId: row.serverId, score: healthScore(history), failure, wasFailing: row.isFailing }
        })
        if (rows.length > 0) yield* repo.save(rows)
        return rows.filter(({ failure, wasFailing }) => wasFailing !== (failure !== null))
      },
      transactionally(sql)
    )

    return { checked, record } as const
  })
}) {}
