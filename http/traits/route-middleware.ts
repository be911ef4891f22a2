import { type HttpApp, HttpServerRequest } from "@effect/platform"
import { Context, Effect } from "effect"
import { CurrentRoute, type Route } from "./Traits.ts"

/** Answers a request itself, or passes it to `app`. */
type Around<E2, R2> = <E, R>(
  request: HttpServerRequest.HttpServerRequest,
  route: Route,
  app: HttpApp.Default<E, R>
) => HttpApp.Default<E | E2, R | R2>

/** Middleware for a request and its route. Passing a request on costs only one step of the fiber. */
export const routeMiddleware =
  <E2 = never, R2 = never>(around: Around<E2, R2>) =>
  <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E | E2, R | R2> =>
    Effect.withFiberRuntime((fiber) => {
      const context = fiber.currentContext
      const request = Context.unsafeGet(context, HttpServerRequest.HttpServerRequest)
      return around(request, Context.get(context, CurrentRoute), app)
    })
