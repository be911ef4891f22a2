import { Layer } from "effect"
import { Imports } from "./Imports.ts"
import { ImportsRepo } from "./ImportsRepo.ts"

export const ImportsLive = Layer.provide(Imports.Default, ImportsRepo.Default)
