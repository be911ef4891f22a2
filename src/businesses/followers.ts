import { Listings } from "#src/listings/Listings.ts"
import { BusinessConfigs } from "#src/servers/BusinessConfigs.ts"
import { PlatformEvents } from "#src/shared/PlatformEvents.ts"
import { Effect, Layer } from "effect"
import { ReadyConfigs } from "./ReadyConfigs.ts"
import { Standing } from "./Standing.ts"

/** A listing's level and health follow the account and the server. */
const following = Layer.effectDiscard(Effect.gen(function*() {
  const events = yield* PlatformEvents
  const standing = yield* Standing
  const listings = yield* Listings
  yield* events.follow("deployed", standing.followServer)
  yield* events.follow("probed", () => standing.followHealth)
  yield* events.follow("planOfAccount", standing.followAccount)
  yield* events.follow("deletingServer", listings.loseServer)
}))

/** What servers and accounts have of businesses, which they do not know. */
export const FollowersLive = Layer.merge(
  following,
  Layer.effect(BusinessConfigs, Effect.map(ReadyConfigs, ({ ofServer }) => ({ ofServer })))
)
