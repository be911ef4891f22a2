import { type RouteEntry } from "#http/traits/route-table.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { HttpApi } from "@effect/platform"
import { Context, Option } from "effect"
import { Api } from "./Api.ts"

/** Every route of the contract, with the traits of its group and its own. */
export const contractRoutes = (): ReadonlyArray<RouteEntry> => {
  const routes: Array<RouteEntry> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group }) => {
      const traits = {
        idempotency: "account" as const,
        strictQuery: true,
        ...Option.getOrUndefined(Context.getOption(group.annotations, RouteTraits)),
        ...Option.getOrUndefined(Context.getOption(endpoint.annotations, RouteTraits))
      }
      routes.push({ method: endpoint.method, path: endpoint.path, traits })
    }
  })
  return routes
}
