import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { PlanName, plans } from "#src/plans/Plan.ts"
import { isDiskFull } from "#src/shared/disk-full.ts"
import { firstUlidOf, isId, newUlid, ulidPattern } from "#src/shared/ids.ts"
import { storableText } from "#src/shared/outside-text.ts"
import { decodeCursor, encodeCursor } from "#src/shared/paging.ts"
import { Clock, Effect, Option, Stream } from "effect"
import { Masks } from "./Masks.ts"
import { ServerId } from "./Server.ts"
import { LogEntry, type LogLevel, type LogRequest } from "./ServerLog.ts"
import { ServerLogsRepo } from "./ServerLogsRepo.ts"
import { Servers } from "./Servers.ts"

export interface LogLine {
  readonly level: LogLevel
  readonly message: string
  /** What it must not show is masked already. */
  readonly isMasked?: true
}

const day = 24 * 60 * 60_000

/** What is kept: so many lines, and none before an id. */
const keptAt = (now: number) =>
  PlanName.literals.map((plan) => ({
    plan,
    lines: plans[plan].logLines,
    before: `log_${firstUlidOf(now - plans[plan].logDays * day)}`
  }))
const pollInterval = "500 millis"
const followBatch = 200
const { id: LogEntryId } = LogEntry.fields

const maxMessageLength = 16_384

/** A server's log: its deployments' stages and its machines' own output, newest first. */
export class ServerLogs extends Effect.Service<ServerLogs>()("servers/ServerLogs", {
  effect: Effect.gen(function*() {
    const repo = yield* ServerLogsRepo
    const masks = yield* Masks
    const servers = yield* Servers

    const list = Effect.fn("ServerLogs.list")(function*(id: string, { before, level, limit, search }: LogRequest) {
      const server = yield* servers.visible(id)
      const list = `logs ${server.id}`
      const last = before === undefined
        ? undefined
        : yield* decodeCursor(list, before, (text) => ulidPattern.test(text.slice(4)))
      const rows = yield* repo.read({ serverId: server.id, level, search, before: last, count: limit + 1 })
      const items = rows.slice(0, limit)
      const hasMore = rows.length > limit
      const end = items.at(-1)
      return { items, hasMore, cursor: hasMore && end !== undefined ? encodeCursor(list, end.id) : null }
    }, withPolicy(anyScope("logs:read", "servers:read")))

    /**
     * New entries as they are written, from now on or from `lastSeen` on. Ends when the server is deleted.
     */
    const follow = Effect.fn("ServerLogs.follow")(
      function*(id: string, { level, search }: Pick<LogRequest, "level" | "search">, lastSeen: string | undefined) {
        const actor = yield* CurrentActor
        const { id: serverId } = yield* servers.visible(id)
        let last = lastSeen !== undefined && isId("log", lastSeen) ? lastSeen : `log_${newUlid()}`
        const next = Effect.gen(function*() {
          yield* servers.visible(serverId)
          const rows = yield* repo.after({ serverId, level, search, after: last, count: followBatch })
          last = rows.at(-1)?.id ?? last
          return rows
        })
        return Stream.repeatEffect(Effect.delay(next, pollInterval)).pipe(
          Stream.flattenIterables,
          Stream.catchTag("ServerNotFound", () => Stream.empty),
          Stream.provideService(CurrentActor, actor)
        )
      },
      withPolicy(anyScope("logs:read", "servers:read"))
    )

    /** Appends lines in their order. Lines of a deleted server are dropped. */
    const append = Effect.fn("ServerLogs.append")(
      function*(serverId: string, lines: ReadonlyArray<LogLine>) {
        if (lines.length === 0) return
        const mask = yield* masks.of(serverId)
        const timestamp = new Date(yield* Clock.currentTimeMillis)
        yield* repo.append(lines.map(({ isMasked, level, message }) => ({
          id: LogEntryId.make(`log_${newUlid()}`),
          serverId: ServerId.make(serverId),
          level,
          message: storableText(isMasked ? message : mask([message]).join(""), maxMessageLength),
          timestamp
        })))
      },
      // On a full disk lines are lost; nothing else depends on them.
      Effect.catchSomeDefect((defect) => isDiskFull(defect) ? Option.some(Effect.void) : Option.none())
    )

    return {
      list,
      follow,
      append,
      maskOf: masks.of,
      /** What a machine said, as it may be shown outside the log. */
      masked: (serverId: string, text: string) => Effect.map(masks.of(serverId), (mask) => mask([text]).join("")),
      trim: Effect.flatMap(Clock.currentTimeMillis, (now) => repo.trim(keptAt(now)))
    } as const
  })
}) {}
