import { Layer } from "effect"
import { HoldingsRepo } from "./HoldingsRepo.ts"
import { UsageReports } from "./UsageReports.ts"

export const LimitsLive = UsageReports.Default.pipe(Layer.provide(HoldingsRepo.Default))
