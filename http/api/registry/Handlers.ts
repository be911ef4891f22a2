import { apiOf } from "#http/answers/group.ts"
import { Subregistry } from "#src/directory/Subregistry.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { RegistryApi } from "./Api.ts"

export const RegistryHandlers = HttpApiBuilder.group(
  apiOf(RegistryApi),
  "registry",
  (handlers) =>
    Effect.map(Subregistry, (registry) =>
      handlers
        .handle("list", ({ urlParams }) => registry.list(urlParams))
        .handle("versions", ({ path }) => registry.versions(path.serverName))
        .handle("version", ({ path }) => registry.version(path.serverName, path.version)))
)
