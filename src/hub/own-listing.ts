import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { seesProject } from "#src/accounts/Policy.ts"
import { ListingNotFound } from "#src/listings/Listing.ts"
import { isUlid } from "#src/shared/ids.ts"
import { Effect, Option } from "effect"
import { daysOf, InvalidInput, NotYourListing, type Period } from "./ListingAnalytics.ts"

/** Whose a listing is. */
export interface Owned {
  readonly accountId: string
  readonly projectId: string
}

/** The id, if it can be one (contract: Hub error codes, analytics). */
export const listingId = (id: string) =>
  isUlid(id) ? Effect.succeed(id) : Effect.fail(new InvalidInput({ reason: "id: must be a 26-character ULID" }))

const isPeriod = (text: string): text is Period => Object.hasOwn(daysOf, text)

export const periodOf = (text = "30d") =>
  isPeriod(text)
    ? Effect.succeed(text)
    : Effect.fail(new InvalidInput({ reason: "period: must be 7d, 30d or 90d" }))

/** What was found of a listing, for its owner only: a key's listings are those of its project. */
export const ownOnly = Effect.fnUntraced(function*<A extends Owned>(found: Option.Option<A>) {
  const actor = yield* CurrentActor
  if (Option.isNone(found)) return yield* new ListingNotFound()
  const isOwn = found.value.accountId === actor.accountId && seesProject(actor, found.value.projectId)
  return isOwn ? found.value : yield* new NotYourListing()
})
