import { contractRoutes } from "#http/api/contract-routes.ts"
import { RoutesLive } from "#http/front/Server.ts"
import { areaOf } from "#http/traits/areas.ts"
import { RawRoutes } from "#http/traits/RawRoutes.ts"
import { type RouteEntry } from "#http/traits/route-table.ts"
import { defaults, type Traits } from "#http/traits/Traits.ts"
import { platformOn } from "#src/Platform.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer } from "effect"
import { freshDatabaseUrl } from "./Database.ts"
import { freePort } from "./http.ts"
import { NoMachines } from "./no-machines.ts"
import { settingsTest } from "./Settings.ts"

const settings = Layer.unwrapEffect(
  Effect.map(
    Effect.zip(freshDatabaseUrl, Effect.promise(freePort)),
    ([url, port]) => settingsTest({ DATABASE_URL: url, PORT: String(port), COMPUTE_DRIVER: "sandbox" })
  )
)

/** What the router of a platform has, and every route as it is described. */
export const routeList = Effect.gen(function*() {
  const { routes } = yield* HttpApiBuilder.Router.router
  const { entries } = yield* RawRoutes
  return { routes, described: [...contractRoutes(), ...entries] }
}).pipe(Effect.provide(RoutesLive.pipe(Layer.provide(platformOn(NoMachines)), Layer.provide(settings))))

/** A route's traits with those of its area, and the defaults. */
export const allTraits = ({ path, traits }: RouteEntry): Traits => ({ ...defaults, ...areaOf(path), ...traits })
