import { Layer } from "effect"
import { HubKeys } from "./HubKeys.ts"
import { HubKeysRepo } from "./HubKeysRepo.ts"

export const HubLive = Layer.provide(HubKeys.Default, HubKeysRepo.Default)
