import { newUlid } from "#src/shared/ids.ts"
import { storableText } from "#src/shared/outside-text.ts"
import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import { ServerId } from "./Server.ts"
import { LogEntry } from "./ServerLog.ts"
import { ServerLogsRepo } from "./ServerLogsRepo.ts"

const quietMillis = 10 * 60_000
const longest = 500
const { id: LogEntryId } = LogEntry.fields

/**
 * Tells a server's log of answers of its machine that can't be passed on: each reason once in ten minutes. It writes by
 * itself, since a process that is a gateway alone has no more of the log; nothing in it is a machine's own output.
 */
export class BrokenAnswers extends Effect.Service<BrokenAnswers>()("servers/BrokenAnswers", {
  effect: Effect.gen(function*() {
    const repo = yield* ServerLogsRepo
    const told = new LRUCache<string, number>({ max: 5_000 })

    return {
      tell: Effect.fn("BrokenAnswers.tell")(
        function*(serverId: string, problem: string, detail: string) {
          const now = yield* Clock.currentTimeMillis
          const about = `${serverId} ${problem}`
          if ((told.get(about) ?? 0) > now) return
          told.set(about, now + quietMillis)
          yield* repo.append([{
            id: LogEntryId.make(`log_${newUlid()}`),
            serverId: ServerId.make(serverId),
            level: "warn",
            message: storableText(`${problem}; callers get 502 (${detail})`, longest),
            timestamp: new Date(now)
          }])
        },
        Effect.catchAllCause((cause) => Effect.logDebug("A broken answer could not be told of", cause))
      )
    } as const
  })
}) {}
