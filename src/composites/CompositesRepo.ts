import { AccountId } from "#src/accounts/CurrentActor.ts"
import { prepared } from "#src/format/prepared.ts"
import { Count, many, maybe, one, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { CompositeVisibility, CreatedBy } from "./Composite.ts"
import { QueryDefinition } from "./QueryDefinition.ts"
import { type Standing } from "./standing.ts"

export const CompositeRow = Schema.Struct({
  id: Schema.String,
  createdBy: CreatedBy,
  userId: Schema.NullOr(AccountId),
  name: Schema.String,
  slug: Schema.String,
  description: Schema.String,
  visibility: CompositeVisibility,
  queryDefinition: QueryDefinition,
  expiresAt: Schema.NullOr(Schema.DateFromSelf),
  promotedAt: Schema.NullOr(Schema.DateFromSelf),
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf,
  /** Its standing: `health` in hundredths. */
  trust: Schema.Int,
  members: Schema.Int,
  health: Schema.Int
})
export type CompositeRow = typeof CompositeRow.Type

/** `total`: of all that are public. */
const PublishedRow = Schema.Struct({ ...CompositeRow.fields, total: Schema.Int })

const encodeDefinition = Schema.encodeSync(Schema.parseJson(QueryDefinition))

/** A composite's place in browse. */
export type Place = Standing & Pick<CompositeRow, "id">

export type NewRow = Pick<
  CompositeRow,
  "id" | "createdBy" | "userId" | "name" | "slug" | "description" | "visibility" | "queryDefinition" | "expiresAt"
>
export type Changes = Partial<Pick<CompositeRow, "name" | "description" | "visibility" | "queryDefinition">>

const json = ({ queryDefinition, ...row }: Changes) => ({
  ...row,
  ...(queryDefinition === undefined ? {} : { queryDefinition: encodeDefinition(queryDefinition) })
})

/** Composites as they are stored. `at`: one that expires by then is not found. */
export class CompositesRepo extends Effect.Service<CompositesRepo>()("composites/CompositesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(
      "id, created_by, user_id, name, slug, description, visibility, query_definition, expires_at, promoted_at, " +
        "created_at, updated_at, standing_trust AS trust, standing_members AS members, standing_health AS health"
    )
    const once = sql.literal(prepared)
    const alive = (at: Date) => sql`(expires_at IS NULL OR expires_at > ${at})`
    const standingOf = ({ health, members, trust }: Standing) =>
      sql`standing_trust = ${trust}, standing_members = ${members}, standing_health = ${health}, standing_at = now()`

    const published = sql`SELECT count(*)::int AS count FROM composites WHERE visibility = 'public'`

    return {
      insert: one(CompositeRow)((row: NewRow) =>
        sql`INSERT INTO composites ${sql.insert(json(row))} RETURNING ${columns}`
      ),
      find: maybe(CompositeRow)((id: string, at: Date) =>
        sql`${once} SELECT ${columns} FROM composites WHERE id = ${id} AND ${alive(at)}`
      ),
      /** What its members are, as JSON. */
      definition: maybe(Schema.Struct({ definition: Schema.String }).pipe(Schema.pluck("definition")))((
        id: string,
        at: Date
      ) => sql`${once} SELECT query_definition::text AS definition FROM composites WHERE id = ${id} AND ${alive(at)}`),
      findBySlug: maybe(CompositeRow)((slug: string, at: Date) =>
        sql`${once} SELECT ${columns} FROM composites WHERE slug = ${slug} AND ${alive(at)} ORDER BY id LIMIT 1`
      ),
      /** Until the end of the transaction nobody else changes it, and it is not purged. */
      lock: maybe(CompositeRow)((id: string, at: Date) =>
        sql`SELECT ${columns} FROM composites WHERE id = ${id} AND ${alive(at)} FOR UPDATE`
      ),
      /** The account's, newest first by `createdAt`, then by id: ids made at once need not follow their times. */
      ofAccount: many(CompositeRow)((userId: string, at: Date, count: number) =>
        sql`SELECT ${columns} FROM composites WHERE user_id = ${userId} AND ${
          alive(at)
        } ORDER BY created_at DESC, id DESC LIMIT ${count}`
      ),
      /** Those that expire. */
      agents: one(Count)((userId: string, at: Date) =>
        sql`SELECT count(*)::int AS count FROM composites WHERE user_id = ${userId} AND expires_at > ${at}`
      ),
      /** Those that stay. */
      kept: one(Count)((userId: string) =>
        sql`SELECT count(*)::int AS count FROM composites WHERE user_id = ${userId} AND expires_at IS NULL`
      ),
      change: one(CompositeRow)((id: string, changes: Changes) =>
        sql`UPDATE composites SET ${sql.update({ ...json(changes) })}, updated_at = now() WHERE id = ${id}
            RETURNING ${columns}`
      ),
      promote: one(CompositeRow)((id: string, at: Date) =>
        sql`UPDATE composites SET visibility = 'public', promoted_at = ${at}, expires_at = NULL, updated_at = now()
            WHERE id = ${id} RETURNING ${columns}`
      ),
      delete: (id: string) => run(sql`DELETE FROM composites WHERE id = ${id}`),
      /** One that is promoted meanwhile stays: the statement waits for its lock, and looks again. */
      purge: (at: Date) => run(sql`DELETE FROM composites WHERE expires_at <= ${at}`),
      /** Public ones in the order of their standings, after the place given. What expires is private. */
      browse: many(PublishedRow)((after: Place | undefined, count: number) =>
        sql`${once} SELECT ${columns}, (${published}) AS total FROM composites WHERE visibility = 'public' AND ${
          after === undefined ? sql`true` : sql`(-standing_trust, -standing_members, -standing_health, id) >
              (${-after.trust}, ${-after.members}, ${-after.health}, ${after.id})`
        }
            ORDER BY (-standing_trust), (-standing_members), (-standing_health), id LIMIT ${count}`
      ),
      published: one(Count)(() =>
        sql`${once} SELECT count(*)::int AS count FROM composites WHERE visibility = 'public'`
      ),
      /** Those whose standing is the oldest. */
      oldestStandings: many(CompositeRow)((count: number) =>
        sql`SELECT ${columns} FROM composites WHERE visibility = 'public' ORDER BY standing_at LIMIT ${count}`
      ),
      stand: (id: string, standing: Standing) =>
        run(sql`UPDATE composites SET ${standingOf(standing)} WHERE id = ${id}`)
    } as const
  })
}) {}
