import { ListingNotFound } from "#src/listings/Listing.ts"
import { many, maybe, one, onForeignKey, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { DocumentFormat, ParsedDocument } from "./CapabilityDoc.ts"

const Owned = Schema.Struct({ accountId: Schema.String, name: Schema.String, isActive: Schema.Boolean })

const Stored = Schema.Struct({
  listingId: Schema.String,
  format: DocumentFormat,
  blobKey: Schema.String,
  digest: Schema.String,
  ...ParsedDocument.fields
})

const Entry = Schema.Struct({ id: Schema.String, name: Schema.String, format: DocumentFormat })
const Bytes = Schema.Struct({ bytes: Schema.Number }).pipe(Schema.pluck("bytes"))
const Key = Schema.Struct({ key: Schema.String }).pipe(Schema.pluck("key"))

interface EntriesPage {
  readonly after: string | undefined
  readonly listingId: string | undefined
  readonly format: DocumentFormat | undefined
  readonly count: number
}

export class CapabilityDocsRepo extends Effect.Service<CapabilityDocsRepo>()("hub/CapabilityDocsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const unused = sql`NOT EXISTS (SELECT FROM capability_documents d WHERE d.blob_key = b.key)`

    return {
      /** A listing in any status, with its owner. */
      owned: maybe(Owned)((listingId: string) =>
        sql`SELECT p.account_id, l.name, l.status = 'active' AS is_active FROM listings l
            JOIN businesses b ON b.id = l.business_id JOIN projects p ON p.id = b.project_id
            WHERE l.id = ${listingId}`
      ),
      /** Before anything is stored at the key. */
      addBlob: (row: { readonly key: string; readonly accountId: string; readonly bytes: number }) =>
        run(sql`INSERT INTO capability_blobs ${sql.insert({ ...row })}`),
      /** Nothing may be there, or all of it: it counts in no quota, and the sweep removes it. */
      uncount: (key: string) => run(sql`UPDATE capability_blobs SET bytes = 0 WHERE key = ${key}`),
      bytesOf: one(Bytes)((accountId: string) =>
        sql`SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM capability_blobs WHERE account_id = ${accountId}`
      ),
      /** Takes the place of the listing's document, whole: of two at once one stays. */
      put: ({ tools, ...row }: typeof Stored.Type) =>
        sql`INSERT INTO capability_documents ${sql.insert({ ...row, tools: JSON.stringify(tools) })}
            ON CONFLICT (listing_id) DO UPDATE SET blob_key = excluded.blob_key, format = excluded.format,
              digest = excluded.digest, name = excluded.name, description = excluded.description,
              tools = excluded.tools, uploaded_at = now()`.pipe(
          onForeignKey("capability_documents_listing_id_fkey", () => new ListingNotFound()),
          run
        ),
      /** That of an active listing. */
      find: maybe(Stored)((listingId: string) =>
        sql`SELECT d.listing_id, d.blob_key, d.format, d.digest, d.name, d.description, d.tools
            FROM capability_documents d JOIN listings l ON l.id = d.listing_id
            WHERE d.listing_id = ${listingId} AND l.status = 'active'`
      ),
      /** Active listings that have one, in the order of their ids. */
      entries: many(Entry)(({ after, count, format, listingId }: EntriesPage) =>
        sql`SELECT l.id, l.name, d.format FROM capability_documents d JOIN listings l ON l.id = d.listing_id
            WHERE ${
          sql.and([
            sql`l.status = 'active'`,
            ...(after === undefined ? [] : [sql`d.listing_id > ${after}`]),
            ...(listingId === undefined ? [] : [sql`d.listing_id = ${listingId}`]),
            ...(format === undefined ? [] : [sql`d.format = ${format}`])
          ])
        } ORDER BY d.listing_id LIMIT ${count}`
      ),
      /** Since when nothing names a key, where nothing does. */
      markOrphans: run(
        sql`UPDATE capability_blobs b SET orphaned_at = CASE WHEN ${unused} THEN now() END
            WHERE (orphaned_at IS NULL) = ${unused}`
      ),
      orphans: many(Key)((minutes: number, count: number) =>
        sql`SELECT key FROM capability_blobs b
            WHERE orphaned_at < now() - make_interval(mins => ${minutes}) AND ${unused} ORDER BY key LIMIT ${count}`
      ),
      dropBlob: (key: string) => run(sql`DELETE FROM capability_blobs b WHERE key = ${key} AND ${unused}`)
    } as const
  })
}) {}
