import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { bySessionOrHubKey, type Forbidden, type Policy, type Unauthorized } from "#src/accounts/Policy.ts"
import { type HubKeys } from "#src/hub/HubKeys.ts"
import { isAtLeast } from "#src/plans/HubTier.ts"
import { Effect } from "effect"
import { PromotionNeedsTier } from "./Composite.ts"

const requiredTier = "builder"

/**
 * Contract: Hub authentication, promotion: a hub key of tier builder or higher, or a session of an account that has one.
 */
export const mayPromote = (
  { tierOf }: Pick<HubKeys, "tierOf">
): Policy<PromotionNeedsTier | Forbidden | Unauthorized> =>
  Effect.gen(function*() {
    yield* bySessionOrHubKey
    if (!isAtLeast(yield* tierOf(yield* CurrentActor), requiredTier)) {
      return yield* new PromotionNeedsTier({ requiredTier })
    }
  })
