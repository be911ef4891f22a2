import { type PlanName } from "#src/plans/Plan.ts"
import { Effect } from "effect"
import { AccountsRepo } from "./AccountsRepo.ts"

interface Period {
  readonly start: Date
  readonly end: Date
}

/** Account settings that the user does not set: the plan and its period, and whether the e-mail address is verified. */
export class AccountSettings extends Effect.Service<AccountSettings>()("accounts/AccountSettings", {
  effect: Effect.map(AccountsRepo, (repo) => ({
    /** Returns the account's id; none when there is no such account. The caller applies what follows from the plan. */
    setPlan: Effect.fn("AccountSettings.setPlan")((email: string, plan: PlanName) =>
      repo.setPlan(email.toLowerCase(), plan)
    ),
    /** The same for an account's id. */
    setPlanOf: Effect.fn("AccountSettings.setPlanOf")((id: string, plan: PlanName) => repo.setPlanOf(id, plan)),
    /** The period in which an account's usage counts; without one the UTC calendar month. */
    setPeriodOf: Effect.fn("AccountSettings.setPeriodOf")((id: string, period: Period | undefined) =>
      repo.setPeriodOf(id, period?.start ?? null, period?.end ?? null)
    ),
    /** Marks an e-mail address as verified or not; none when there is no such account. */
    setVerified: Effect.fn("AccountSettings.setVerified")((email: string, verified: boolean) =>
      repo.setVerified(email.toLowerCase(), verified)
    )
  }))
}) {}
