import { Jobs } from "#src/jobs/Jobs.ts"
import { makeCounters } from "#src/jobs/write-behind.ts"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { type Route } from "./Route.ts"
import { ServerUseRepo } from "./ServerUseRepo.ts"

/** More servers than one gateway serves within an interval. */
const capacity = 100_000

interface Open {
  /** Requests and streams that are under way. */
  count: number
  /** As the database was told last. */
  told: number
}

/**
 * What this process knows of the use of servers, told to the host every few seconds. Of servers that never sleep only
 * open streams are told, because one that is open now counts when its server may sleep later.
 */
export class ServerUse extends Effect.Service<ServerUse>()("routing/ServerUse", {
  scoped: Effect.gen(function*() {
    const repo = yield* ServerUseRepo
    const jobs = yield* Jobs
    const gateway = randomUUID()
    const open = new Map<string, Open>()

    const { add, flush } = makeCounters({
      what: "uses of servers",
      names: ["uses"],
      capacity,
      batch: capacity,
      write: (rows: ReadonlyArray<{ readonly serverId: string; readonly uses: number }>) => {
        // The counts of this moment, not sums: a write that is repeated changes nothing.
        const uses = rows.map(({ serverId }) => ({ serverId, open: open.get(serverId)?.count ?? 0 }))
        return Effect.map(repo.report(gateway, uses), () => {
          for (const { open: told, serverId } of uses) {
            const entry = open.get(serverId)
            if (entry !== undefined) entry.told = told
            if (told === 0 && entry?.count === 0) open.delete(serverId)
          }
        })
      }
    })
    const tell = (serverId: string) => add(serverId, () => ({ serverId, uses: 0 }), "uses")

    /** In this order: whoever reads that this gateway is alive relies on what it had told before. */
    const report = Effect.suspend(() => {
      for (const [serverId, { count, told }] of open) if (count > 0 && told === 0) tell(serverId)
      return Effect.zipRight(flush, repo.beat(gateway))
    })
    yield* repo.beat(gateway)
    yield* Effect.addFinalizer(() =>
      Effect.zipRight(flush, repo.leave(gateway)).pipe(
        Effect.disconnect,
        Effect.timeoutOption("1 second"),
        Effect.catchAllCause((cause) => Effect.logDebug("The end of a gateway was not told; it will be seen", cause))
      )
    )
    yield* jobs.every("Telling which servers are used", "3 seconds", report)

    return {
      /** This process, as the host knows it. */
      gateway,
      /**
       * A request to a server's machine begins. Call `end` once, at its end: `isUse` is false for one that the machine did
       * not let in, which keeps no server awake. `listens`: its answer is a stream that waits for what may come, and
       * which is use only when something is `said` (docs/decisions/silent-streams.md).
       */
      begin: ({ authMode, autoStopSeconds, serverId }: Pick<Route, "authMode" | "autoStopSeconds" | "serverId">) => {
        let entry = open.get(serverId)
        if (entry === undefined) open.set(serverId, entry = { count: 0, told: 0 })
        entry.count++
        // In byoa mode the machine tells by its answer whom it lets in.
        if (autoStopSeconds !== null && authMode !== "byoa") tell(serverId)
        let isOver = false
        const end = (isUse: boolean) => {
          if (isOver) return
          isOver = true
          entry.count--
          if (autoStopSeconds !== null && isUse || entry.count === 0 && entry.told > 0) tell(serverId)
          else if (entry.count === 0 && open.get(serverId) === entry) open.delete(serverId)
        }
        return {
          end,
          listens: () => end(true),
          said: () => {
            if (autoStopSeconds !== null) tell(serverId)
          }
        }
      },
      report,
      /** Drops what no decision needs any more. */
      sweep: repo.forget
    } as const
  })
}) {}
