import { Layer } from "effect"
import { MachineMetering } from "./MachineMetering.ts"
import { RequestMetering } from "./RequestMetering.ts"
import { Usage } from "./Usage.ts"
import { UsageRepo } from "./UsageRepo.ts"

export const UsageLive = Layer.mergeAll(
  MachineMetering.Default,
  RequestMetering.Default,
  Usage.Default
).pipe(Layer.provide(UsageRepo.Default))
