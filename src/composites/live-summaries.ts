import { Array as Arr, Clock, Effect, Option } from "effect"
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
    const summaryOf = ({ queryDefinition }: CompositeRow) =>
      Effect.map(inTime(members.summaries([queryDefinition])), Option.flatMapNullable(([summary]) => summary))
    const [system, others] = Arr.partition(rows, ({ createdBy }) => createdBy !== "system")
    // Those of the platform, which are most, are counted in one statement; alone they need no fibers beside this one.
    const ofSystem = inTime(members.ofSystem(system.map(({ id }) => id)))
    const [systems, found] = others.length === 0
      ? [yield* ofSystem, []]
      : yield* Effect.all([ofSystem, Effect.forEach(others, summaryOf, { concurrency: 3 })], { concurrency: 2 })
    const known = new Map(Option.getOrElse(systems, () => new Map<string, CompositeSummary>()))
    for (const [at, summary] of found.entries()) {
      if (Option.isSome(summary)) known.set(others[at]!.id, summary.value)
    }
    return rows.map((row) => known.get(row.id) ?? storedSummary(row))
  })
