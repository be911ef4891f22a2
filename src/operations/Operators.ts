import { AccountSettings } from "#src/accounts/AccountSettings.ts"
import { Standing } from "#src/businesses/Standing.ts"
import { type PlanName } from "#src/plans/Plan.ts"
import { Effect, Option } from "effect"

/** What the operator of an installation does by `berth admin`; no door of the service leads here. */
export class Operators extends Effect.Service<Operators>()("operations/Operators", {
  effect: Effect.gen(function*() {
    const accounts = yield* AccountSettings
    const { followAccount, reviews, setPremium } = yield* Standing

    /** Puts an account on a plan, whatever it pays; false when there is no such account. */
    const setPlan = Effect.fn("Operators.setPlan")(function*(email: string, plan: PlanName) {
      const account = yield* accounts.setPlan(email, plan)
      if (Option.isSome(account)) yield* followAccount(account.value)
      return Option.isSome(account)
    })

    /** Records that an e-mail address is its user's, or no longer does; false when there is no such account. */
    const setVerified = Effect.fn("Operators.setVerified")((email: string, verified: boolean) =>
      Effect.map(accounts.setVerified(email, verified), Option.isSome)
    )

    return { setPlan, setPremium, setVerified, reviews } as const
  })
}) {}
