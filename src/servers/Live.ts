import { Layer } from "effect"
import { BrokenAnswers } from "./BrokenAnswers.ts"
import { Environment } from "./Environment.ts"
import { EnvironmentRepo } from "./EnvironmentRepo.ts"
import { Health } from "./Health.ts"
import { Masks } from "./Masks.ts"
import { Metrics } from "./Metrics.ts"
import { ServerHealth } from "./ServerHealth.ts"
import { ServerHealthRepo } from "./ServerHealthRepo.ts"
import { ServerLogs } from "./ServerLogs.ts"
import { ServerLogsRepo } from "./ServerLogsRepo.ts"
import { Servers } from "./Servers.ts"
import { ServersRepo } from "./ServersRepo.ts"
import { ServerStates } from "./ServerStates.ts"
import { StaleTools } from "./StaleTools.ts"

/** What a process that is a gateway alone has of this folder. */
export const BrokenAnswersLive = Layer.provide(BrokenAnswers.Default, ServerLogsRepo.Default)

export const ServersLive = Layer.mergeAll(
  Environment.Default,
  Health.Default,
  Metrics.Default,
  ServerHealth.Default,
  BrokenAnswersLive,
  Layer.provide(ServerLogs.Default, Masks.Default),
  ServerStates.Default,
  StaleTools.Default
).pipe(
  Layer.provideMerge(Servers.Default),
  Layer.provide([EnvironmentRepo.Default, ServerHealthRepo.Default, ServerLogsRepo.Default, ServersRepo.Default])
)
