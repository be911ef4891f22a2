import { slugOf } from "#src/shared/slug.ts"
import { Count, many, one, withLongTimeout } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { GroupSql } from "./group-sql.ts"
import { GroupsRepo } from "./GroupsRepo.ts"
import { QueryDefinition } from "./QueryDefinition.ts"
import { namesOf } from "./title-case.ts"

/** Contract: Limits, system composites; and their eligibility. */
const mostComposites = 500
const leastMembers = 3
const leastTier = 2

/** A spelling is that of most of so many members. */
const spellingsRead = 100

/** A group with its vertical, city and state as most of its best members write them. */
const Eligible = Schema.Struct({
  id: Schema.String,
  vertical: Schema.String,
  city: Schema.String,
  state: Schema.String
})

/** What a business wrote before there were rules for it may be no definition. */
const isDefinition = Schema.is(QueryDefinition)

const Changes = Schema.Struct({ added: Schema.Int, changed: Schema.Int })

/** Composites that the platform makes, for each vertical with enough verified listings in a city (contract: Composite skill). */
export class SystemComposites extends Effect.Service<SystemComposites>()("composites/SystemComposites", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const groups = yield* GroupsRepo
    const { isCounted, recounted } = GroupSql(sql)

    const eligible = many(Eligible)(() =>
      sql`WITH ${recounted()}, best AS MATERIALIZED (
          SELECT id, number FROM (
            SELECT g.id, g.number, g.verified_n FROM composite_groups g
              WHERE g.is_composite AND g.verified_n >= ${leastMembers} AND ${isCounted}
            UNION ALL SELECT g.id, g.number, g.verified_n FROM recounted g
              WHERE g.is_composite AND g.verified_n >= ${leastMembers}
          ) g ORDER BY verified_n DESC, id LIMIT ${mostComposites}
        )
        SELECT best.id, s.vertical, s.city, s.state FROM best, LATERAL (
          SELECT mode() WITHIN GROUP (ORDER BY l.industry) AS vertical, mode() WITHIN GROUP (ORDER BY l.city) AS city,
            mode() WITHIN GROUP (ORDER BY l.state) AS state
          FROM (
            SELECT e.number FROM composite_entries e WHERE e.group_number = best.number AND e.trust >= ${leastTier}
            ORDER BY e.score DESC, e.number LIMIT ${spellingsRead}
          ) e JOIN listings l ON l.number = e.number
        ) s`
    )

    const rowOf = ({ city, id, state, vertical }: typeof Eligible.Type) => {
      const { description, name } = namesOf({ city, state, vertical })
      const definition: QueryDefinition = { vertical, city, state, verification_tier_min: leastTier }
      return {
        id,
        name,
        slug: slugOf(`${name} ${state}`, id.toLowerCase()),
        description,
        definition
      }
    }

    const store = one(Changes)((rows: ReadonlyArray<ReturnType<typeof rowOf>>) =>
      sql`WITH stored AS (
          INSERT INTO composites AS c (id, created_by, name, slug, description, visibility, query_definition)
            SELECT id, 'system', name, slug, description, 'public', definition
            FROM json_to_recordset(${JSON.stringify(rows)}::json)
              AS r(id text, name text, slug text, description text, definition jsonb) ORDER BY id
          ON CONFLICT (id) DO UPDATE SET name = excluded.name, slug = excluded.slug,
            description = excluded.description, query_definition = excluded.query_definition, updated_at = now()
          WHERE (c.name, c.slug, c.description, c.query_definition) <>
            (excluded.name, excluded.slug, excluded.description, excluded.query_definition)
          RETURNING xmax = 0 AS is_new
        )
        SELECT count(*) FILTER (WHERE is_new)::int AS added, count(*) FILTER (WHERE NOT is_new)::int AS changed FROM stored`
    )
    const removeOthers = one(Count)((ids: ReadonlyArray<string>) =>
      sql`WITH gone AS (DELETE FROM composites WHERE created_by = 'system' AND id <> ALL(${ids}::text[]) RETURNING id)
        SELECT count(*)::int AS count FROM gone`
    )

    /** Makes those that are eligible now, and removes the others. One at a time; what has not changed is not written. */
    const make = Effect.gen(function*() {
      yield* groups.fold
      return yield* Effect.gen(function*() {
        yield* sql`SELECT pg_advisory_xact_lock(hashtext('system composites'))`
        const rows = (yield* eligible()).map(rowOf).filter(({ definition }) => isDefinition(definition))
        const changes = yield* store(rows)
        return { ...changes, removed: yield* removeOthers(rows.map(({ id }) => id)), total: rows.length }
      }).pipe(withLongTimeout(sql))
    }).pipe(Effect.withSpan("SystemComposites.make"))

    return { make, fold: groups.fold } as const
  })
}) {}
