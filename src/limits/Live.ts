import { Layer } from "effect"
import { AccountPlans } from "./AccountPlans.ts"
import { HoldingsRepo } from "./HoldingsRepo.ts"
import { LimitNotices } from "./LimitNotices.ts"
import { UsageReports } from "./UsageReports.ts"

export const LimitsLive = AccountPlans.Default.pipe(
  Layer.provideMerge(UsageReports.Default),
  Layer.merge(LimitNotices.Default),
  Layer.provide(HoldingsRepo.Default)
)
