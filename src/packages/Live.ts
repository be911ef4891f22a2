import { Layer } from "effect"
import { Packages } from "./Packages.ts"
import { PackagesRepo } from "./PackagesRepo.ts"

export const PackagesLive = Layer.provide(Packages.Default, PackagesRepo.Default)
