import { Layer } from "effect"
import { ComputeTime } from "./ComputeTime.ts"
import { GuestRequests } from "./GuestRequests.ts"
import { GuestRequestsRepo } from "./GuestRequestsRepo.ts"
import { MachineMetering } from "./MachineMetering.ts"
import { MachineMeteringRepo } from "./MachineMeteringRepo.ts"
import { RequestMetering } from "./RequestMetering.ts"
import { ServerRequests } from "./ServerRequests.ts"
import { ServerRequestsRepo } from "./ServerRequestsRepo.ts"
import { ToolCalls } from "./ToolCalls.ts"
import { ToolCallsRepo } from "./ToolCallsRepo.ts"
import { Usage } from "./Usage.ts"
import { UsageRepo } from "./UsageRepo.ts"

/** For the gateway. */
export const RequestMeteringLive = Layer.provide(
  Layer.mergeAll(RequestMetering.Default, GuestRequests.Default, ServerRequests.Default, ToolCalls.Default),
  [UsageRepo.Default, GuestRequestsRepo.Default, ServerRequestsRepo.Default, ToolCallsRepo.Default]
)

export const UsageLive = Layer.merge(
  RequestMeteringLive,
  Layer.provide(
    Layer.mergeAll(MachineMetering.Default, Usage.Default, Layer.provide(ComputeTime.Default, Usage.Default)),
    [UsageRepo.Default, MachineMeteringRepo.Default]
  )
)
