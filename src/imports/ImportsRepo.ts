import { BusinessNotFound } from "#src/businesses/Business.ts"
import { isUlid } from "#src/shared/ids.ts"
import { anyRow, many, maybe, one, onForeignKey, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
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
  /** JSON text. */
  readonly plan: string
  readonly bytes: number
}

/** Columns of the business before or after the import. */
const Profile = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const AuditRow = Schema.Struct({
  id: Schema.String,
  createdItems: Schema.Int,
  createdCategories: Schema.Int,
  before: Schema.NullOr(Profile),
  after: Schema.NullOr(Profile),
  replaced: Schema.Boolean,
  revertedAt: Schema.NullOr(Schema.DateFromSelf)
})
export type AuditRow = typeof AuditRow.Type

const Name = Schema.Struct({ name: Schema.String }).pipe(Schema.pluck("name"))
const Bytes = Schema.Struct({ bytes: Schema.Int }).pipe(Schema.pluck("bytes"))
const Sizes = Schema.Struct({ items: Schema.Int, categories: Schema.Int })
const OpenPreviews = Schema.Struct({ count: Schema.Int, firstExpiry: Schema.NullOr(Schema.DateFromSelf) })
const Remains = Schema.Struct({ items: Schema.Int, categories: Schema.Int, usedByOthers: Schema.Boolean })

export class ImportsRepo extends Effect.Service<ImportsRepo>()("imports/ImportsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const pg = yield* PgClient.PgClient

    const take = maybe(PreviewRow)((businessId: string, id: string) =>
      sql`DELETE FROM import_previews WHERE id = ${id} AND business_id = ${businessId} RETURNING *`
    )
    const audit = maybe(AuditRow)((businessId: string, id: string) =>
      sql`SELECT * FROM import_audit WHERE id = ${id} AND business_id = ${businessId}`
    )
    const existingItems = many(Name)((businessId: string, names: ReadonlyArray<string>) =>
      sql`SELECT DISTINCT name FROM catalog_items WHERE business_id = ${businessId} AND name = ANY(${names}::text[])`
    )
    const categoryNames = many(Name)((businessId: string) =>
      sql`SELECT DISTINCT name FROM catalog_categories WHERE business_id = ${businessId} ORDER BY name`
    )
    const ofAccount = (accountId: string) =>
      sql`business_id IN (SELECT b.id FROM businesses b JOIN projects p ON p.id = b.project_id
        WHERE p.account_id = ${accountId})`
    const ifUlid = <A>(id: string, find: Effect.Effect<Option.Option<A>>) =>
      isUlid(id) ? find : Effect.succeed(Option.none())

    return {
      /** Bytes of the account's previews, including expired ones that are still stored. */
      previewBytes: one(Bytes)((accountId: string) =>
        sql`SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM import_previews WHERE ${ofAccount(accountId)}`
      ),
      /** Empties expired previews. Their rows stay for a while, so that a confirm can say that they have expired. */
      emptyExpired: (accountId: string, at: Date) =>
        run(sql`UPDATE import_previews SET plan = '{"business":null,"items":[]}', bytes = 0
          WHERE expires_at <= ${at} AND bytes > 0 AND ${ofAccount(accountId)}`),
      openPreviews: one(OpenPreviews)((businessId: string, at: Date) =>
        sql`SELECT count(*)::int AS count, min(expires_at) AS first_expiry FROM import_previews
            WHERE business_id = ${businessId} AND expires_at > ${at}`
      ),
      addPreview: ({ plan, ...row }: NewPreview) =>
        sql`INSERT INTO import_previews (id, business_id, source_format, warnings_count, expires_at, bytes, plan)
            VALUES (${row.id}, ${row.businessId}, ${row.sourceFormat}, ${row.warningsCount}, ${row.expiresAt},
              ${row.bytes}, ${plan}::jsonb)`.pipe(
          onForeignKey("import_previews_business_id_fkey", () => new BusinessNotFound()),
          run
        ),
      /** Deletes and returns the preview, so that only one of two concurrent confirms gets it. */
      takePreview: (businessId: string, id: string) => ifUlid(id, take(businessId, id)),
      sweep: (expiredBefore: Date) => run(sql`DELETE FROM import_previews WHERE expires_at < ${expiredBefore}`),

      /** Those of the names that the catalog has. */
      existingItems: (businessId: string, names: ReadonlyArray<string>) =>
        Effect.map(existingItems(businessId, names), (found) => new Set(found)),
      categories: (businessId: string) => Effect.map(categoryNames(businessId), (found) => new Set(found)),
      sizes: one(Sizes)((businessId: string) =>
        sql`SELECT (SELECT count(*)::int FROM catalog_items WHERE business_id = ${businessId}) AS items,
          (SELECT count(*)::int FROM catalog_categories WHERE business_id = ${businessId}) AS categories`
      ),

      addAudit: ({ after, before, ...row }: Readonly<Record<string, unknown>>) =>
        run(sql`INSERT INTO import_audit ${
          sql.insert({
            ...row,
            before: before === null ? null : pg.json(before),
            after: after === null ? null : pg.json(after)
          })
        }`),
      findAudit: (businessId: string, id: string) => ifUlid(id, audit(businessId, id)),
      /** Counts an import's rows that are unchanged, and checks whether other items use its categories. */
      remains: one(Remains)((id: string) =>
        sql`WITH imported AS (SELECT * FROM catalog_categories WHERE import_id = ${id})
            SELECT
              (SELECT count(*)::int FROM catalog_items WHERE import_id = ${id} AND updated_at = created_at) AS items,
              (SELECT count(*)::int FROM imported WHERE updated_at = created_at) AS categories,
              EXISTS (SELECT FROM catalog_items i JOIN imported ON imported.id = i.category_id
                WHERE i.import_id IS DISTINCT FROM ${id}) AS used_by_others`
      ),
      /** Whether the catalog has rows that are not the import's. */
      hasOthers: (businessId: string, id: string) =>
        anyRow(
          sql`SELECT id FROM catalog_items WHERE business_id = ${businessId} AND import_id IS DISTINCT FROM ${id}
              UNION ALL SELECT id FROM catalog_categories
              WHERE business_id = ${businessId} AND import_id IS DISTINCT FROM ${id} LIMIT 1`
        ),
      markReverted: (id: string, at: Date) => run(sql`UPDATE import_audit SET reverted_at = ${at} WHERE id = ${id}`)
    } as const
  })
}) {}
