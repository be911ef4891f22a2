import { many, maybe, one, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { type Listed, ListingRow } from "./Listing.ts"

/** The columns that are derived from the business, with their scores. */
type Derived =
  & Pick<
    ListingRow,
    | "name"
    | "description"
    | "categories"
    | "businessName"
    | "businessSlug"
    | "city"
    | "state"
    | "tier"
    | "verificationTier"
    | "profileCompleteness"
    | "healthScore"
    | "relevanceScore"
  >
  & Pick<Listed, "industry" | "templateType" | "latitude" | "longitude">
  & { readonly isPlaceApproximate: boolean; readonly zip: string }

const BusinessId = Schema.Struct({ id: Schema.String }).pipe(Schema.pluck("id"))
const Owner = Schema.Struct({ businessId: Schema.String, accountId: Schema.String })

export class ListingsRepo extends Effect.Service<ListingsRepo>()("listings/ListingsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    return {
      insert: (id: string, businessId: string, derived: Derived) =>
        run(sql`INSERT INTO listings ${sql.insert({ id, businessId, ...derived })}`),
      /** Every business has a listing. */
      ofBusiness: one(ListingRow)((businessId: string) =>
        sql`SELECT * FROM listings WHERE business_id = ${businessId}`
      ),
      /** The business that the server speaks for, locked. */
      lockBusinessOf: many(BusinessId)((serverId: string) =>
        sql`SELECT id FROM businesses WHERE server_id = ${serverId} FOR UPDATE`
      ),
      /** The listing itself has not changed: `updated_at` stays. */
      setScores: (businessId: string, healthScore: number, relevanceScore: number) =>
        run(sql`UPDATE listings SET health_score = ${healthScore}, relevance_score = ${relevanceScore}
            WHERE business_id = ${businessId}`),
      /** The owner of a listing in any status. */
      ownerOf: maybe(Owner)((id: string) =>
        sql`SELECT l.business_id, p.account_id FROM listings l
            JOIN businesses b ON b.id = l.business_id JOIN projects p ON p.id = b.project_id WHERE l.id = ${id}`
      ),
      /** None when it was deleted meanwhile. `publishedAt` keeps the first time. */
      show: maybe(ListingRow)((id: string, visible: boolean) =>
        visible
          ? sql`UPDATE listings SET status = 'active', published_at = coalesce(published_at, now()), updated_at = now()
                WHERE id = ${id} RETURNING *`
          : sql`UPDATE listings SET status = 'pending', updated_at = now() WHERE id = ${id} RETURNING *`
      ),
      update: (businessId: string, fields: Readonly<Record<string, unknown>>) =>
        run(
          sql`UPDATE listings SET ${
            sql.update({ businessId, ...fields })
          }, updated_at = now() WHERE business_id = ${businessId}`
        )
    } as const
  })
}) {}
