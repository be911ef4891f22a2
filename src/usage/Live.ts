import { PlatformEvents } from "#src/shared/PlatformEvents.ts"
import { Effect, Layer } from "effect"
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

/** Nothing is counted of a server that is gone. */
const following = Layer.effectDiscard(
  Effect.flatMap(
    Effect.all([PlatformEvents, MachineMetering]),
    ([events, metering]) => events.follow("goingServers", metering.settleServers)
  )
)

export const UsageLive = Layer.merge(
  RequestMeteringLive,
  Layer.provide(
    Layer.mergeAll(
      Layer.provideMerge(following, MachineMetering.Default),
      Usage.Default,
      Layer.provide(ComputeTime.Default, Usage.Default)
    ),
    [UsageRepo.Default, MachineMeteringRepo.Default]
  )
)
