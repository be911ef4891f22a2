import { prepared } from "#src/format/prepared.ts"
import { Count, many, one } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { counting } from "./fold-marks.ts"
import { type Label } from "./group-sql.ts"
import { labelSteps } from "./label-steps.ts"

/** Composites of so many members with a label make it broad; below the half it ceases to be. */
const leastMembers = 4_000
/** Each pair of them is counted. */
const mostLabels = 32
/** Groups that one statement counts. */
const groupsAtOnce = 20_000

const Broad = Schema.Struct({ number: Schema.Int, isReady: Schema.Boolean, isFew: Schema.Boolean })
const Counted = Schema.Struct({ count: Schema.Int, last: Schema.Int })

/** Categories and tags of which so many listings are members that reading all of these takes long. */
export class BroadLabels extends Effect.Service<BroadLabels>()("composites/BroadLabels", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const sizes = sql`sizes AS MATERIALIZED (
      SELECT label, is_tag, sum(n::bigint * groups) AS members FROM composite_label_totals GROUP BY 1, 2
    )`
    const widen = one(Count)((least: number) =>
      sql`WITH ${sizes}, added AS (
          INSERT INTO composite_broad_labels (label, is_tag)
            SELECT label, is_tag FROM sizes s WHERE members >= ${least}
              AND NOT EXISTS (SELECT FROM composite_broad_labels b WHERE (b.label, b.is_tag) = (s.label, s.is_tag))
            ORDER BY members DESC, label, is_tag
            LIMIT greatest(0, ${mostLabels} - (SELECT count(*) FROM composite_broad_labels))
          RETURNING number
        ) SELECT count(*)::int AS count FROM added`
    )
    const all = many(Broad)((least: number) =>
      sql`WITH ${sizes} SELECT number, is_ready AS "isReady", coalesce(members, 0) < ${least / 2} AS "isFew"
        FROM composite_broad_labels b LEFT JOIN sizes s USING (label, is_tag) ORDER BY number`
    )
    const setReady = (number: number, isReady: boolean) =>
      sql`UPDATE composite_broad_labels SET is_ready = ${isReady} WHERE number = ${number}`
    const remove = (number: number) =>
      counting(sql)(Effect.all([
        sql`DELETE FROM composite_label_steps WHERE label = ${number} OR with_label = ${number}`,
        sql`DELETE FROM composite_label_step_totals WHERE label = ${number} OR with_label = ${number}`,
        sql`DELETE FROM composite_broad_labels WHERE number = ${number}`
      ]))
    const countSome = one(Counted)((number: number, after: number) =>
      sql`WITH fresh AS MATERIALIZED (
          SELECT DISTINCT e.group_number FROM composite_labels e
          JOIN composite_broad_labels b ON (b.label, b.is_tag) = (e.label, e.is_tag)
          JOIN composite_groups g ON g.number = e.group_number
          WHERE b.number = ${number} AND g.is_composite AND e.group_number > ${after} ORDER BY 1 LIMIT ${groupsAtOnce}
        ), ${labelSteps(sql, sql`SELECT group_number FROM fresh`)}
        SELECT count(*)::int AS count, coalesce(max(group_number), 0) AS last FROM fresh`
    )
    /** Changes that the count does not see have marks: they are counted after it. */
    const fill = Effect.fnUntraced(function*(number: number) {
      let after = 0
      for (;;) {
        const { count, last } = yield* counting(sql)(countSome(number, after))
        if (count < groupsAtOnce) return yield* setReady(number, true)
        after = last
      }
    })

    /**
     * Counts what has become broad, and forgets what no longer is: first queries leave it alone, and it goes with the next
     * run, when none of them is under way.
     */
    const choose = Effect.fn("BroadLabels.choose")(function*(least: number = leastMembers) {
      const before = yield* all(least)
      for (const { isFew, isReady, number } of before) {
        if (isFew) yield* isReady ? setReady(number, false) : remove(number)
      }
      yield* widen(least)
      for (const { isFew, isReady, number } of yield* all(least)) {
        if (!isFew && !isReady) yield* fill(number)
      }
    }, Effect.orDie)

    const ready = many(Schema.Struct({ number: Schema.Int }))((labels: ReadonlyArray<Label>) =>
      sql`${sql.literal(prepared)} SELECT b.number FROM composite_broad_labels b
        JOIN unnest(${labels.map(({ label }) => label)}::text[], ${labels.map(({ isTag }) => isTag)}::boolean[])
          AS asked(label, is_tag) ON (b.label, b.is_tag) = (asked.label, asked.is_tag)
        WHERE b.is_ready ORDER BY 1`
    )
    /** Their numbers in order; none unless all of them are broad. */
    const numbersOf = (labels: ReadonlyArray<Label>) =>
      Effect.map(ready(labels), (rows) => rows.length === labels.length ? rows.map(({ number }) => number) : undefined)

    return { choose, numbersOf } as const
  })
}) {}
