import { Clock, Effect, Option } from "effect"
import { type CompositeMembers } from "./CompositeMembers.ts"
import { type CompositeRow } from "./CompositesRepo.ts"
import { storedSummary } from "./standing.ts"

/** In milliseconds, for all composites of a page. */
const patience = 1_000

/**
 * The summaries of a page's composites at this moment. A query may be very wide, and anybody may publish one: those that
 * are not done in time have their stored values, so that no page waits for them (docs/decisions/composite-order.md).
 */
export const liveSummaries = (members: CompositeMembers) =>
  Effect.fnUntraced(function*(rows: ReadonlyArray<CompositeRow>) {
    const end = (yield* Clock.currentTimeMillis) + patience
    const summaryOf = (row: CompositeRow) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (now) =>
          now >= end ? Effect.succeedNone : members.summaries([row.queryDefinition]).pipe(
            // What runs in a request is uninterruptible; the database is told to give the query up.
            Effect.interruptible,
            Effect.timeoutOption(end - now)
          )
      ).pipe(
        Effect.map(Option.flatMapNullable(([summary]) => summary)),
        Effect.map(Option.getOrElse(() => storedSummary(row)))
      )
    return yield* Effect.forEach(rows, summaryOf, { concurrency: 4 })
  })
