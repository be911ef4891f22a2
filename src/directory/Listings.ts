import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { type BusinessRow } from "#src/businesses/Business.ts"
import { profileCompleteness } from "#src/businesses/completeness.ts"
import { levelOfTier, tierOf } from "#src/businesses/verification-level.ts"
import { isUlid, newUlid } from "#src/shared/ids.ts"
import { Effect, Option } from "effect"
import { ListingId, ListingNotFound, type ListingRow, type OwnListing, type SetVisible } from "./Listing.ts"
import { ListingsRepo } from "./ListingsRepo.ts"
import { listingTierOf, relevanceScore } from "./relevance.ts"

type Own = Pick<ListingRow, "ownName" | "ownDescription" | "ownTier" | "healthScore">

const nothingOwn: Own = { ownName: null, ownDescription: null, ownTier: null, healthScore: 0 }

/** What a listing shows and is ranked by, from its business and what it has of its own. */
const followed = (business: BusinessRow, own: Own) => {
  const scored = {
    verificationTier: tierOf(business.verificationLevel),
    tier: listingTierOf(business.plan, own.ownTier),
    profileCompleteness: profileCompleteness(business)
  }
  return {
    ...scored,
    relevanceScore: relevanceScore({ ...scored, healthScore: own.healthScore }),
    name: own.ownName ?? business.name,
    description: own.ownDescription ?? business.description,
    businessName: business.name,
    businessSlug: business.slug,
    industry: business.industry,
    templateType: business.templateType,
    city: business.city,
    state: business.state,
    latitude: business.latitude,
    longitude: business.longitude
  }
}

const view = (row: ListingRow): OwnListing => ({ ...row, verificationLevel: levelOfTier(row.verificationTier) })

/** A business's listing in the directory: one each, hidden until its owner shows it. */
export class Listings extends Effect.Service<Listings>()("directory/Listings", {
  effect: Effect.gen(function*() {
    const repo = yield* ListingsRepo

    const create = (business: Omit<BusinessRow, "listingId">) => {
      const id = ListingId.make(newUlid())
      return Effect.as(repo.insert(id, business.id, followed({ ...business, listingId: id }, nothingOwn)), id)
    }

    /** Writes what follows the business anew. Runs in the transaction that changed it, with the business locked. */
    const follow = Effect.fn("Listings.follow")(function*(business: BusinessRow) {
      yield* repo.update(business.id, followed(business, yield* repo.ofBusiness(business.id)))
    })

    /** Changes what a listing has of its own; `follow` comes after it. */
    const change = (businessId: string, fields: Readonly<Record<string, unknown>>) => repo.update(businessId, fields)

    const ofBusiness = (businessId: string) => Effect.map(repo.ofBusiness(businessId), view)

    const setVisible = Effect.fn("Listings.setVisible")(function*(id: string, { visible }: typeof SetVisible.Type) {
      const { accountId } = yield* CurrentActor
      const owner = isUlid(id) ? yield* repo.ownerOf(id) : Option.none()
      if (Option.isNone(owner) || owner.value.accountId !== accountId) return yield* new ListingNotFound()
      return yield* Option.match(yield* repo.show(id, visible), {
        onNone: () => new ListingNotFound(),
        onSome: (row) => Effect.succeed(view(row))
      })
    }, withPolicy(sessionOnly))

    return { create, follow, change, ofBusiness, setVisible } as const
  })
}) {}
