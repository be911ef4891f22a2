import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { ImageRegistries } from "#src/registries/ImageRegistries.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { RegistriesApi } from "./Api.ts"

export const RegistriesHandlers = HttpApiBuilder.group(
  apiOf(RegistriesApi),
  "registries",
  (handlers) =>
    Effect.map(ImageRegistries, (registries) =>
      handlers
        .handle("list", ({ urlParams }) => registries.list(urlParams))
        .handle("create", ({ payload }) => Effect.map(registries.create(payload), data))
        .handle("update", ({ path, payload }) => Effect.map(registries.update(path.registryId, payload), data))
        .handle("remove", ({ path }) => registries.remove(path.registryId)))
)
