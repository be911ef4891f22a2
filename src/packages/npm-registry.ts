import { type Settings } from "#src/config/Settings.ts"
import { type ImageError } from "#src/images/ImageError.ts"
import { type GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { Effect, Option } from "effect"
import { type NpmOptions } from "./npm.ts"
import { startRegistryProxy } from "./registry-proxy.ts"

type Registry = Pick<NpmOptions, "registry" | "proxy" | "certificates">

/** Runs npm with the way to its registry. What the way refused explains a failure better than what npm makes of it. */
export const withNpmRegistry = <A>(
  http: GuardedHttp,
  { extraCertificates, npmRegistry }: Settings,
  use: (registry: Registry) => Effect.Effect<A, ImageError>
): Effect.Effect<A, ImageError> =>
  Effect.scoped(Effect.gen(function*() {
    const place = { origins: [new URL(npmRegistry).origin], setting: "NPM_REGISTRY" } as const
    const { explain, url } = yield* startRegistryProxy(http, place)
    const registry = { registry: npmRegistry, proxy: url, certificates: Option.getOrUndefined(extraCertificates) }
    return yield* Effect.mapError(use(registry), explain)
  }))
