import { Layer } from "effect"
import { Accounts } from "./Accounts.ts"
import { AccountSettings } from "./AccountSettings.ts"
import { AccountsRepo } from "./AccountsRepo.ts"
import { Attempts } from "./Attempts.ts"
import { AttemptsRepo } from "./AttemptsRepo.ts"
import { Passwords } from "./Passwords.ts"
import { Quotas } from "./Quotas.ts"

/** Needs only the database: for the operator's commands. */
export const AccountSettingsLive = Layer.provide(AccountSettings.Default, AccountsRepo.Default)

export const AccountsLive = Layer.merge(Accounts.Default, Quotas.Default).pipe(
  Layer.provide([Attempts.Default, Passwords.Default]),
  Layer.provide([AccountsRepo.Default, AttemptsRepo.Default])
)
