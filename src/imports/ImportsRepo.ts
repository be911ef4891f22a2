import { BusinessNotFound } from "#src/businesses/Business.ts"
import { isUlid } from "#src/shared/ids.ts"
import { dieOnSql, onForeignKey } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Option, Schema } from "effect"
import { SourceFormat } from "./Import.ts"
import { Plan } from "./plan.ts"

const PreviewRow = Schema.Struct({
  id: Schema.String,
  sourceFormat: SourceFormat,
  plan: Plan,
  warningsCount: Schema.Int,
  expiresAt: Schema.DateFromSelf
})

export interface NewPreview {
  readonly id: string
  readonly businessId: string
  readonly sourceFormat: SourceFormat
  readonly warningsCount: number
  readonly expiresAt: Date
  /** As JSON. */
  readonly plan: string
  readonly bytes: number
}

/** Columns of the business as they were or became. */
const Profile = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const AuditRow = Schema.Struct({
  id: Schema.String,
  createdItems: Schema.Int,
  createdCategories: Schema.Int,
  before: Schema.NullOr(Profile),
  after: Schema.NullOr(Profile),
  revertedAt: Schema.NullOr(Schema.DateFromSelf)
})
export type AuditRow = typeof AuditRow.Type

const Remains = Schema.Struct({ items: Schema.Int, categories: Schema.Int, usedByOthers: Schema.Boolean })

export class ImportsRepo extends Effect.Service<ImportsRepo>()("imports/ImportsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const pg = yield* PgClient.PgClient

    const take = SqlSchema.findOne({
      Request: Schema.Struct({ businessId: Schema.String, id: Schema.String }),
      Result: PreviewRow,
      execute: ({ businessId, id }) =>
        sql`DELETE FROM import_previews WHERE id = ${id} AND business_id = ${businessId} RETURNING *`
    })
    const audit = SqlSchema.findOne({
      Request: Schema.Struct({ businessId: Schema.String, id: Schema.String }),
      Result: AuditRow,
      execute: ({ businessId, id }) => sql`SELECT * FROM import_audit WHERE id = ${id} AND business_id = ${businessId}`
    })
    const remains = SqlSchema.single({
      Request: Schema.String,
      Result: Remains,
      execute: (id) =>
        sql`WITH made AS (SELECT * FROM catalog_categories WHERE import_id = ${id})
            SELECT
              (SELECT count(*)::int FROM catalog_items WHERE import_id = ${id} AND updated_at = created_at) AS items,
              (SELECT count(*)::int FROM made WHERE updated_at = created_at) AS categories,
              EXISTS (SELECT FROM catalog_items i JOIN made ON made.id = i.category_id
                WHERE i.import_id IS DISTINCT FROM ${id}) AS used_by_others`
    })
    const names = (table: "catalog_items" | "catalog_categories") =>
      SqlSchema.findAll({
        Request: Schema.Struct({ businessId: Schema.String, among: Schema.Array(Schema.String) }),
        Result: Schema.Struct({ name: Schema.String }),
        execute: ({ among, businessId }) =>
          sql`SELECT DISTINCT name FROM ${sql(table)} WHERE business_id = ${businessId}
            AND name = ANY(${among}::text[])`
      })
    const existing = (table: "catalog_items" | "catalog_categories") => {
      const find = names(table)
      return (businessId: string, among: ReadonlyArray<string>) =>
        dieOnSql(Effect.map(find({ businessId, among }), (rows) => new Set(rows.map(({ name }) => name))))
    }
    const ofAccount = (accountId: string) =>
      sql`business_id IN (SELECT b.id FROM businesses b JOIN projects p ON p.id = b.project_id
        WHERE p.account_id = ${accountId})`
    const previewBytes = SqlSchema.single({
      Request: Schema.String,
      Result: Schema.Struct({ bytes: Schema.Int }),
      execute: (accountId) =>
        sql`SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM import_previews WHERE ${ofAccount(accountId)}`
    })
    const openPreviews = SqlSchema.single({
      Request: Schema.Struct({ businessId: Schema.String, at: Schema.DateFromSelf }),
      Result: Schema.Struct({ count: Schema.Int, firstExpiry: Schema.NullOr(Schema.DateFromSelf) }),
      execute: ({ at, businessId }) =>
        sql`SELECT count(*)::int AS count, min(expires_at) AS first_expiry FROM import_previews
            WHERE business_id = ${businessId} AND expires_at > ${at}`
    })
    const sizes = SqlSchema.single({
      Request: Schema.String,
      Result: Schema.Struct({ items: Schema.Int, categories: Schema.Int }),
      execute: (id) =>
        sql`SELECT (SELECT count(*)::int FROM catalog_items WHERE business_id = ${id}) AS items,
          (SELECT count(*)::int FROM catalog_categories WHERE business_id = ${id}) AS categories`
    })
    const ofOwn = <A>(id: string, find: Effect.Effect<Option.Option<A>>) =>
      isUlid(id) ? find : Effect.succeed(Option.none())
    const write = (statement: Effect.Effect<unknown, unknown>) => Effect.orDie(Effect.asVoid(statement))

    return {
      /** What the account's previews take, those that have expired and are there still among them. */
      previewBytes: (accountId: string) => dieOnSql(Effect.map(previewBytes(accountId), ({ bytes }) => bytes)),
      /** Of previews that have expired only this need be known. */
      emptyExpired: (accountId: string, at: Date) =>
        write(sql`UPDATE import_previews SET plan = '{"business":null,"items":[]}', bytes = 0
          WHERE expires_at <= ${at} AND bytes > 0 AND ${ofAccount(accountId)}`),
      openPreviews: (businessId: string, at: Date) => dieOnSql(openPreviews({ businessId, at })),
      addPreview: ({ plan, ...row }: NewPreview) =>
        sql`INSERT INTO import_previews (id, business_id, source_format, warnings_count, expires_at, bytes, plan)
            VALUES (${row.id}, ${row.businessId}, ${row.sourceFormat}, ${row.warningsCount}, ${row.expiresAt},
              ${row.bytes}, ${plan}::jsonb)`.pipe(
          onForeignKey("import_previews_business_id_fkey", () => new BusinessNotFound()),
          Effect.asVoid,
          dieOnSql
        ),
      /** Takes the preview away, for a confirm: who comes second finds none. */
      takePreview: (businessId: string, id: string) => ofOwn(id, dieOnSql(take({ businessId, id }))),
      sweep: (expiredBefore: Date) => write(sql`DELETE FROM import_previews WHERE expires_at < ${expiredBefore}`),

      /** Which of these names the catalog has. */
      existingItems: existing("catalog_items"),
      existingCategories: existing("catalog_categories"),
      sizes: (businessId: string) => dieOnSql(sizes(businessId)),

      addAudit: ({ after, before, ...row }: Readonly<Record<string, unknown>>) =>
        write(sql`INSERT INTO import_audit ${
          sql.insert({
            ...row,
            before: before === null ? null : pg.json(before),
            after: after === null ? null : pg.json(after)
          })
        }`),
      findAudit: (businessId: string, id: string) => ofOwn(id, dieOnSql(audit({ businessId, id }))),
      /** What is left of an import as it was made. */
      remains: (id: string) => dieOnSql(remains(id)),
      markReverted: (id: string, at: Date) => write(sql`UPDATE import_audit SET reverted_at = ${at} WHERE id = ${id}`)
    } as const
  })
}) {}
