import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { type RouteEntry } from "./route-table.ts"
import { type Traits } from "./Traits.ts"

/** Routes that the contract does not describe; complete when all layers are built. */
export class RawRoutes extends Effect.Service<RawRoutes>()("http/RawRoutes", {
  sync: () => ({ entries: [] as Array<RouteEntry> })
}) {}

type Router = Parameters<Parameters<typeof HttpApiBuilder.Router.use>[0]>[0]

const verbs = { GET: "get", POST: "post", DELETE: "del", OPTIONS: "options" } as const
type Method = keyof typeof verbs

type Add = (
  method: Method,
  path: string,
  traits: Partial<Traits>,
  answer: Parameters<Router["get"]>[1]
) => Effect.Effect<void>

/** A layer that adds such routes, each with its traits and handler. */
export const rawRoutes = <A, E, R>(build: (add: Add) => Effect.Effect<A, E, R>) =>
  HttpApiBuilder.Router.use((router) =>
    Effect.flatMap(RawRoutes, ({ entries }) =>
      build((method, path, traits, answer) => {
        entries.push({ method, path, traits })
        return router[verbs[method]](path as `/${string}`, answer)
      }))
  )
