import { Layer } from "effect"
import { ImageRegistries } from "./ImageRegistries.ts"
import { ImageRegistriesRepo } from "./ImageRegistriesRepo.ts"

export const RegistriesLive = Layer.provide(ImageRegistries.Default, ImageRegistriesRepo.Default)
