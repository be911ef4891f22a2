import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { bySessionOrHubKey, Forbidden, mayDo, type Policy, type Unauthorized } from "#src/accounts/Policy.ts"
import { Effect } from "effect"
import { PromotionNeedsTier } from "./Composite.ts"

const requiredTier = "builder"

/** Contract: Hub authentication, promotion: a hub key of tier builder or higher. A session is not enough. */
export const byPromotingKey: Policy<PromotionNeedsTier | Forbidden | Unauthorized> = Effect.gen(function*() {
  yield* bySessionOrHubKey
  const actor = yield* CurrentActor
  if (actor.credential.kind !== "hub") {
    return yield* new Forbidden({
      reason: `Promotion needs a hub key of tier ${requiredTier} or higher, not a session`
    })
  }
  if (!mayDo(actor, "builderKey")) return yield* new PromotionNeedsTier({ requiredTier })
})
