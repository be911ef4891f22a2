import { Layer } from "effect"
import { HoldingsRepo } from "./HoldingsRepo.ts"
import { MachineMetering } from "./MachineMetering.ts"
import { RequestMetering } from "./RequestMetering.ts"
import { Usage } from "./Usage.ts"
import { UsageRepo } from "./UsageRepo.ts"
import { UsageReports } from "./UsageReports.ts"

export const UsageLive = Layer.mergeAll(
  MachineMetering.Default,
  RequestMetering.Default,
  Usage.Default,
  UsageReports.Default
).pipe(
  Layer.provide([HoldingsRepo.Default, UsageRepo.Default])
)
