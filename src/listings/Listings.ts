import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { isUlid, newUlid } from "#src/shared/ids.ts"
import { Effect, Option } from "effect"
import { categoriesOf } from "./categories.ts"
import {
  type Listed,
  ListingId,
  ListingNotFound,
  type ListingRow,
  type OwnListing,
  type SetVisible
} from "./Listing.ts"
import { ListingsRepo } from "./ListingsRepo.ts"
import { placeOf } from "./place.ts"
import { listingTierOf, relevanceScore } from "./relevance.ts"
import { levelOfTier, tierOf } from "./VerificationLevel.ts"

type Overrides = Pick<ListingRow, "ownName" | "ownDescription" | "ownCategories" | "ownTier">

const noOverrides: Overrides = {
  ownName: null,
  ownDescription: null,
  ownCategories: null,
  ownTier: null
}

/** Derives what a listing shows and is ranked by, from its business and its own overrides. */
const derive = Effect.fnUntraced(function*(business: Listed, own: Overrides) {
  const scored = {
    verificationTier: tierOf(business.verificationLevel),
    tier: listingTierOf(business.plan, own.ownTier),
    profileCompleteness: business.profileCompleteness,
    healthScore: business.healthScore
  }
  return {
    ...scored,
    relevanceScore: relevanceScore(scored),
    name: own.ownName ?? business.name,
    description: own.ownDescription ?? business.description,
    categories: own.ownCategories ?? categoriesOf(business),
    businessName: business.name,
    businessSlug: business.slug,
    industry: business.industry,
    templateType: business.templateType,
    city: business.city,
    state: business.state,
    ...(yield* placeOf(business))
  }
})

const view = (row: ListingRow): OwnListing => ({ ...row, verificationLevel: levelOfTier(row.verificationTier) })

/** The listing of a business in the directory: each has one, hidden until its owner shows it. */
export class Listings extends Effect.Service<Listings>()("listings/Listings", {
  effect: Effect.gen(function*() {
    const repo = yield* ListingsRepo

    const create = Effect.fn("Listings.create")(function*(business: Listed) {
      const id = ListingId.make(newUlid())
      yield* repo.insert(id, business.id, yield* derive(business, noOverrides))
      return id
    })

    /** Updates the derived columns. Must run in the transaction that changed the business, with the business locked. */
    const follow = Effect.fn("Listings.follow")(function*(business: Listed) {
      yield* repo.update(business.id, yield* derive(business, yield* repo.ofBusiness(business.id)))
    })

    /** Changes the listing's overrides; the caller must call `follow` afterwards. */
    const change = (businessId: string, fields: Readonly<Record<string, unknown>>) => repo.update(businessId, fields)

    /** Follows the score of the business's server. Must run in a transaction that has locked the business. */
    const followHealth = Effect.fn("Listings.followHealth")(function*(businessId: string, healthScore: number) {
      const row = yield* repo.ofBusiness(businessId)
      if (row.healthScore === healthScore) return
      yield* repo.setScores(businessId, healthScore, relevanceScore({ ...row, healthScore }))
    })

    /** To be called in the transaction that deletes a server, before it. */
    const loseServer = Effect.fn("Listings.loseServer")(function*(serverId: string) {
      yield* Effect.forEach(yield* repo.lockBusinessOf(serverId), (id) => followHealth(id, 0), { discard: true })
    })

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

    return { create, follow, followHealth, loseServer, change, ofBusiness, setVisible } as const
  })
}) {}
