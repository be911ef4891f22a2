import { Clock, Effect, Option } from "effect"
import { type CompositeMembers } from "./CompositeMembers.ts"
import { type CompositeRow } from "./CompositesRepo.ts"
import { type CompositeSummary } from "./Member.ts"
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
    const inTime = <A>(work: Effect.Effect<A>) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (now) =>
          // What runs in a request is uninterruptible; the database is told to give the query up.
          now >= end ? Effect.succeedNone : Effect.timeoutOption(Effect.interruptible(work), end - now)
      )
    const summaryOf = (row: CompositeRow) =>
      Effect.map(inTime(members.summaries([row.queryDefinition])), Option.flatMapNullable(([summary]) => summary))
    const isSystem = ({ createdBy }: CompositeRow) => createdBy === "system"
    // Those of the platform, which are most, are counted in one statement.
    const [ofSystem, ofOthers] = yield* Effect.all([
      inTime(members.ofSystem(rows.filter(isSystem).map(({ id }) => id))),
      Effect.forEach(rows, (row) => isSystem(row) ? Effect.succeedNone : summaryOf(row), { concurrency: 3 })
    ], { concurrency: 2 })
    const systems = Option.getOrElse(ofSystem, () => new Map<string, CompositeSummary>())
    return rows.map((row, at) =>
      systems.get(row.id) ?? Option.getOrElse(ofOthers[at] ?? Option.none(), () => storedSummary(row))
    )
  })
