import { ProjectNotFound } from "#src/projects/Project.ts"
import { ServerNotFound } from "#src/servers/Server.ts"
import { anyRow, Count, dieOnSql, many, maybe, one, onForeignKey, onUnique, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema, type Statement } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { BusinessRow, ServerAlreadyLinked } from "./Business.ts"

const NewRow = BusinessRow.pick("id", "projectId", "name", "slug", "description", "industry", "templateType")

type Fields = Readonly<Record<string, unknown>>

/** The driver needs an explicit JSON wrapper for these columns. */
const jsonColumns: ReadonlySet<string> = new Set(["hours", "customFields", "featureFlags", "analytics"])

export class BusinessesRepo extends Effect.Service<BusinessesRepo>()("businesses/BusinessesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const pg = yield* PgClient.PgClient

    const columns = sql`b.*, l.id AS listing_id, l.profile_completeness, p.account_id, u.plan,
      u.created_at AS account_created_at, coalesce(h.score, 0) AS health_score, h.hours AS health_hours, h.probed_at,
      h.failed_at AS probe_failed_at, h.failure AS probe_failure`
    const joined = sql`businesses b JOIN listings l ON l.business_id = b.id
      JOIN projects p ON p.id = b.project_id JOIN users u ON u.id = p.account_id
      LEFT JOIN server_health h ON h.server_id = b.server_id`

    const insert = SqlSchema.single({
      Request: NewRow,
      Result: BusinessRow.omit(
        "listingId",
        "profileCompleteness",
        "healthScore",
        "healthHours",
        "probedAt",
        "probeFailedAt",
        "probeFailure"
      ),
      execute: (row) =>
        sql`WITH b AS (INSERT INTO businesses ${sql.insert(row)} RETURNING *)
            SELECT b.*, p.account_id, u.plan, u.created_at AS account_created_at
            FROM b JOIN projects p ON p.id = b.project_id JOIN users u ON u.id = p.account_id`
    })
    const Id = Schema.Struct({ id: Schema.String }).pipe(Schema.pluck("id"))
    const ids = many(Id)((condition: Statement.Fragment) =>
      sql`SELECT b.id FROM businesses b JOIN projects p ON p.id = b.project_id
              JOIN users u ON u.id = p.account_id WHERE ${condition} ORDER BY b.id`
    )

    const stored = (fields: Fields) =>
      Object.fromEntries(
        Object.entries(fields).map((
          [name, value]
        ) => [name, jsonColumns.has(name) && value !== null ? pg.json(value) : value])
      )

    const update = (id: string, fields: Fields) =>
      sql`UPDATE businesses SET ${sql.update(stored({ id, ...fields }))}, updated_at = now() WHERE id = ${id}`

    return {
      /** Undefined when the slug is taken. */
      insert: (row: typeof NewRow.Type) =>
        sql.withTransaction(insert(row)).pipe(
          onUnique("businesses_slug_key", () => "taken" as const),
          Effect.catchIf((error) => error === "taken", () => Effect.succeed(undefined)),
          onForeignKey("businesses_project_id_fkey", () => new ProjectNotFound()),
          dieOnSql
        ),
      find: maybe(BusinessRow)((id: string) => sql`SELECT ${columns} FROM ${joined} WHERE b.id = ${id}`),
      /** Locks the business for the rest of the transaction; false when it no longer exists. */
      lock: (id: string) => anyRow(sql`SELECT id FROM businesses WHERE id = ${id} FOR UPDATE`),
      /** The same, unless somebody else has locked it. */
      tryLock: (id: string) => anyRow(sql`SELECT id FROM businesses WHERE id = ${id} FOR UPDATE SKIP LOCKED`),
      page: many(BusinessRow)((accountId: string, after: string | undefined, count: number) =>
        sql`SELECT ${columns} FROM ${joined} WHERE p.account_id = ${accountId}
            ${after === undefined ? sql`` : sql`AND b.id < ${after}`} ORDER BY b.id DESC LIMIT ${count}`
      ),
      total: one(Count)((accountId: string) =>
        sql`SELECT count(*)::int AS count FROM businesses b JOIN projects p ON p.id = b.project_id
            WHERE p.account_id = ${accountId}`
      ),
      update: (id: string, fields: Fields) => run(update(id, fields)),
      /** An update that may link a server, which may be deleted at the same time. */
      edit: (id: string, fields: Fields) =>
        update(id, fields).pipe(
          onUnique("businesses_server_id_key", () => new ServerAlreadyLinked()),
          onForeignKey("businesses_server_id_fkey", () => new ServerNotFound()),
          run
        ),
      delete: (id: string) => run(sql`DELETE FROM businesses WHERE id = ${id}`),
      /** Businesses that wait for a review, the oldest request first. */
      reviews: many(
        Schema.Struct({ id: Schema.String, name: Schema.String, email: Schema.String, level: Schema.String })
      )(() =>
        sql`SELECT b.id, b.name, u.email, b.verification_level AS level FROM ${joined}
            WHERE b.review_requested_at IS NOT NULL AND b.premium_granted_at IS NULL ORDER BY b.review_requested_at`
      )(),
      /** Businesses whose listing has not the score of their server. */
      idsOfOldHealth: many(Id)(() =>
        sql`SELECT b.id FROM server_health h JOIN businesses b ON b.server_id = h.server_id
            JOIN listings l ON l.business_id = b.id WHERE l.health_score <> h.score`
      )(),
      idsOfServer: (serverId: string) => ids(sql`b.server_id = ${serverId}`),
      idsOfAccount: (accountId: string) => ids(sql`p.account_id = ${accountId}`),
      /** Businesses whose level is held back only by the age of the account. */
      idsOfAge: (createdBefore: Date) =>
        ids(sql`b.verification_level = 'phone_verified' AND u.created_at <= ${createdBefore}`)
    } as const
  })
}) {}
