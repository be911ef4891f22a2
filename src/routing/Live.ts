import { Layer } from "effect"
import { Routes } from "./Routes.ts"
import { RoutesRepo } from "./RoutesRepo.ts"

export const RoutingLive = Layer.provide(Routes.Default, RoutesRepo.Default)
