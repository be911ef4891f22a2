import { type PlanName } from "#src/plans/Plan.ts"
import { Effect } from "effect"
import { AccountsRepo } from "./AccountsRepo.ts"

/** What of an account others decide than its user: its plan, and whether its e-mail address is verified. */
export class AccountSettings extends Effect.Service<AccountSettings>()("accounts/AccountSettings", {
  effect: Effect.map(AccountsRepo, (repo) => ({
    /** The account's id; none when there is no such account. What follows from the plan is the caller's to bring about. */
    setPlan: Effect.fn("AccountSettings.setPlan")((email: string, plan: PlanName) =>
      repo.setPlan(email.toLowerCase(), plan)
    ),
    /** Records that an e-mail address is its user's, or no longer does; none when there is no such account. */
    setVerified: Effect.fn("AccountSettings.setVerified")((email: string, verified: boolean) =>
      repo.setVerified(email.toLowerCase(), verified)
    )
  }))
}) {}
