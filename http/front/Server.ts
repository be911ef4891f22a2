import { answersPreflights } from "#http/answers/cors.ts"
import { ApiLive, RawRoutes } from "#http/api/Live.ts"
import { bounded } from "#http/api/middleware/bodies.ts"
import { idempotent } from "#http/api/middleware/idempotency.ts"
import { routing, withMethods } from "#http/api/middleware/methods.ts"
import { withReadableQuery } from "#http/api/middleware/query-text.ts"
import { makeGateway } from "#http/gateway/Gateway.ts"
import { PlatformResourceRoutes } from "#http/mcp/platform-resource.ts"
import { McpRoutes } from "#http/mcp/routes.ts"
import { DocsRoutes } from "#http/pages/docs.ts"
import { PagesRoutes } from "#http/pages/routes.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Machines } from "#src/machines/Machines.ts"
import { HttpApiBuilder, type HttpApp, HttpMiddleware, HttpRouter } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { type RequestListener } from "node:http"
import { withoutExpectations } from "./expectations.ts"
import { frontDoor } from "./front-door.ts"
import { listen } from "./listen.ts"
import { restrictsMachines } from "./machine-access.ts"
import { machineServer } from "./machine-server.ts"

const doors = Effect.gen(function*() {
  const methods = yield* withMethods
  const forMachines = restrictsMachines(yield* CurrentSettings)
  return (app: HttpApp.Default) =>
    frontDoor(
      withoutExpectations(forMachines(answersPreflights(methods(withReadableQuery(bounded(idempotent(app)))))))
    )
})

/** One listener: what is for a hosted server goes through the gateway, the rest is ours. */
const ListenerLive = Layer.scopedDiscard(Effect.gen(function*() {
  const settings = yield* CurrentSettings
  const gateway = yield* makeGateway
  const app = yield* HttpRouter.withRouterConfig(HttpApiBuilder.httpApp, routing)
  // Nobody collects traces: spans, with an attribute for each header, are a quarter of what a small request costs.
  const ours: RequestListener = yield* NodeHttpServer.makeHandler(app).pipe(
    Effect.withTracerEnabled(false),
    Effect.locally(HttpMiddleware.currentTracerDisabledWhen, () => true)
  )
  // Closed after the listener: requests under way may depend on what their machines ask us.
  yield* (yield* Machines).serveAuth(machineServer(settings, ours))
  yield* listen(settings, gateway, ours)
}))

/** Every route on one port. Needs the services. */
export const HttpLive = ListenerLive.pipe(
  Layer.provide([
    HttpApiBuilder.middleware(doors, { withContext: true }),
    DocsRoutes,
    McpRoutes,
    PagesRoutes,
    PlatformResourceRoutes,
    RawRoutes
  ]),
  Layer.provide(ApiLive),
  Layer.provide([HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer]),
  Layer.provide(NodeHttpServer.layerContext)
)
