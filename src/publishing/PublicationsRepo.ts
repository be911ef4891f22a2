import { AccountId } from "#src/accounts/CurrentActor.ts"
import { ListingNotFound } from "#src/listings/Listing.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { many, maybe, one, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option, Schema } from "effect"

/** A publication in progress. `visible` is null once somebody else has shown or hidden the listing. */
export const Unfinished = Schema.Struct({
  listingId: Schema.String,
  businessId: Schema.String,
  serverId: Schema.String,
  imageUri: Schema.String,
  /** The publication's own deployment has a later version. */
  afterVersion: Schema.Int,
  visible: Schema.NullOr(Schema.Boolean)
})
export type Unfinished = typeof Unfinished.Type

const OwnedPublication = Schema.Struct({
  ...Unfinished.fields,
  name: Schema.String,
  accountId: AccountId,
  email: Schema.String,
  plan: PlanName
})
export type OwnedPublication = typeof OwnedPublication.Type

const Id = Schema.Struct({ id: Schema.String })
const Version = Schema.Struct({ version: Schema.Int })

/** Unfinished publications. */
export class PublicationsRepo extends Effect.Service<PublicationsRepo>()("publishing/PublicationsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const lockListing = maybe(Id)((id: string) => sql`SELECT id FROM listings WHERE id = ${id} FOR UPDATE`)
    const remove = maybe(Unfinished.pick("visible").pipe(Schema.pluck("visible")))((listingId: string) =>
      sql`DELETE FROM publications WHERE listing_id = ${listingId} RETURNING visible`
    )

    const end = Effect.fnUntraced(function*(listingId: string) {
      // The listing first: the same lock order as in showing and hiding it.
      if (Option.isNone(yield* lockListing(listingId))) return yield* new ListingNotFound()
      return Option.getOrNull(yield* remove(listingId))
    })

    return {
      /** Joins a publication of the same listing that goes on: both follow its deployment. */
      insert: ({ businessId: _, ...row }: Unfinished) =>
        run(sql`INSERT INTO publications ${sql.insert(row)}
          ON CONFLICT (listing_id) DO UPDATE SET visible = EXCLUDED.visible`),
      /** Oldest first, each with the account that owns it now. */
      unfinished: many(OwnedPublication)(() =>
        sql`SELECT w.listing_id, w.server_id, w.image_uri, w.after_version, w.visible, b.id AS business_id, b.name, p.account_id,
              u.email, u.plan
            FROM publications w JOIN listings l ON l.id = w.listing_id JOIN businesses b ON b.id = l.business_id
            JOIN projects p ON p.id = b.project_id JOIN users u ON u.id = p.account_id ORDER BY w.created_at`
      )(),
      /** The first deployment after a version. */
      deploymentAfter: maybe(Id.pipe(Schema.pluck("id")))((serverId: string, version: number) =>
        sql`SELECT id FROM deployments WHERE server_id = ${serverId} AND version > ${version} ORDER BY version LIMIT 1`
      ),
      activeDeployment: maybe(Id.pipe(Schema.pluck("id")))((serverId: string) =>
        sql`SELECT id FROM deployments WHERE server_id = ${serverId} AND active`
      ),
      /** The version before that of a deployment in progress; without one, the last. */
      lastSettled: one(Version.pipe(Schema.pluck("version")))((serverId: string) =>
        sql`SELECT coalesce(max(version) FILTER (WHERE status NOT IN ('pending', 'building')), 0) AS version
            FROM deployments WHERE server_id = ${serverId}`
      ),
      /** Ends a publication, in a transaction: whether to show its listing, null when somebody else decided that. */
      end,
      drop: (listingId: string) => run(remove(listingId)),
      /** Drops publications after a day, when nobody waits for them any more. */
      dropOld: run(sql`DELETE FROM publications WHERE created_at < now() - interval '1 day'`)
    } as const
  })
}) {}
