import { type PlanName } from "#src/plans/Plan.ts"
import { Effect } from "effect"
import { AccountsRepo } from "./AccountsRepo.ts"

/** Account settings that the user does not set: the plan, and whether the e-mail address is verified. */
export class AccountSettings extends Effect.Service<AccountSettings>()("accounts/AccountSettings", {
  effect: Effect.map(AccountsRepo, (repo) => ({
    /** Returns the account's id; none when there is no such account. The caller applies what follows from the plan. */
    setPlan: Effect.fn("AccountSettings.setPlan")((email: string, plan: PlanName) =>
      repo.setPlan(email.toLowerCase(), plan)
    ),
    /** The same for an account's id. */
    setPlanOf: Effect.fn("AccountSettings.setPlanOf")((id: string, plan: PlanName) => repo.setPlanOf(id, plan)),
    /** Marks an e-mail address as verified or not; none when there is no such account. */
    setVerified: Effect.fn("AccountSettings.setVerified")((email: string, verified: boolean) =>
      repo.setVerified(email.toLowerCase(), verified)
    )
  }))
}) {}
