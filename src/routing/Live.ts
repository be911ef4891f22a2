import { Layer } from "effect"
import { Routes } from "./Routes.ts"
import { RoutesRepo } from "./RoutesRepo.ts"
import { ServerUse } from "./ServerUse.ts"
import { ServerUseRepo } from "./ServerUseRepo.ts"
import { Sessions } from "./Sessions.ts"
import { SessionsRepo } from "./SessionsRepo.ts"
import { Wakes } from "./Wakes.ts"

/** Needs the database, settings, machines and jobs. */
export const RoutingLive = Wakes.Default.pipe(
  Layer.provideMerge(Layer.mergeAll(Routes.Default, ServerUse.Default, Sessions.Default)),
  Layer.provide([RoutesRepo.Default, ServerUseRepo.Default, SessionsRepo.Default])
)
