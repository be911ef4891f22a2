import { answersPreflights } from "#http/answers/cors.ts"
import { contractRoutes } from "#http/api/contract-routes.ts"
import { ApiLive, ApiRawRoutes } from "#http/api/Live.ts"
import { withBoundedBody } from "#http/api/middleware/bodies.ts"
import { idempotent } from "#http/api/middleware/idempotency.ts"
import { withMethods } from "#http/api/middleware/methods.ts"
import { withKnownQuery, withReadableQuery } from "#http/api/middleware/query-text.ts"
import { makeIdentify } from "#http/callers/caller.ts"
import { makeDistribution } from "#http/distribution/Distribution.ts"
import { isDistribution } from "#http/distribution/endpoint.ts"
import { HostedGateway } from "#http/gateway/HostedGateway.ts"
import { CompositeRoutes } from "#http/mcp/composite-routes.ts"
import { DirectoryDoorRoutes } from "#http/mcp/directory-door.ts"
import { PlatformResourceRoutes } from "#http/mcp/platform-resource.ts"
import { McpRoutes } from "#http/mcp/routes.ts"
import { CrawlerRoutes } from "#http/pages/crawlers.ts"
import { DocsRoutes } from "#http/pages/docs.ts"
import { failurePage } from "#http/pages/failure.ts"
import { PagesRoutes } from "#http/pages/routes.ts"
import { RawRoutes } from "#http/traits/RawRoutes.ts"
import { routeTable, routing } from "#http/traits/route-table.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Idempotency } from "#src/shared/Idempotency.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { HttpApiBuilder, type HttpApp, HttpMiddleware, HttpRouter } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Option } from "effect"
import { type RequestListener } from "node:http"
import { withoutExpectations } from "./expectations.ts"
import { frontDoor } from "./front-door.ts"
import { listen } from "./listen.ts"
import { restrictsMachines } from "./machine-access.ts"
import { machineServer } from "./machine-server.ts"
import { MetricsServerLive } from "./metrics-server.ts"
import { observer } from "./observe.ts"

/** The middleware of the platform's own routes, from the outside to the inside. */
const middleware = Effect.gen(function*() {
  const settings = yield* CurrentSettings
  const { entries } = yield* RawRoutes
  const identify = yield* makeIdentify
  const limits = yield* RateLimit
  const withReplay = idempotent(yield* Idempotency)
  const forMachines = restrictsMachines(settings)
  return (app: HttpApp.Default) => {
    // The listener builds the application after every layer has added its routes.
    const enter = frontDoor({
      settings,
      identify,
      limits,
      observe: observer(settings),
      routes: routeTable([...contractRoutes(), ...entries]),
      failurePage
    })
    return enter(
      withoutExpectations(
        forMachines(answersPreflights(withMethods(withReadableQuery(withKnownQuery(withBoundedBody(withReplay(app)))))))
      )
    )
  }
})

/** One listener: requests for hosted servers go through the gateway, the others to the platform. */
const ListenerLive = Layer.scopedDiscard(Effect.gen(function*() {
  const settings = yield* CurrentSettings
  const gateway = yield* HostedGateway
  const app = yield* HttpRouter.withRouterConfig(HttpApiBuilder.httpApp, routing)
  // Spans without a collector would be a quarter of the cost of a small request. The library's span is off: it has an
  // attribute for each header, and the query; ours is made in front-door.ts.
  const platform: RequestListener = yield* NodeHttpServer.makeHandler(app).pipe(
    Effect.withTracerEnabled(Option.isSome(settings.otlpEndpoint)),
    Effect.locally(HttpMiddleware.currentTracerDisabledWhen, () => true)
  )
  // Closed after the listener: requests in flight may need their machines' requests to us.
  yield* (yield* Machines).serveAuth(machineServer(settings, platform))
  const distribution = yield* makeDistribution
  yield* listen(
    settings,
    gateway,
    (req, res) => isDistribution(req.url) ? distribution(req, res) : platform(req, res)
  )
}))

/** Every route with its middleware. Needs the services. */
export const RoutesLive = Layer.mergeAll(
  HttpApiBuilder.middleware(middleware),
  CompositeRoutes,
  DocsRoutes,
  McpRoutes,
  DirectoryDoorRoutes,
  CrawlerRoutes,
  PagesRoutes,
  PlatformResourceRoutes,
  ApiRawRoutes
).pipe(
  Layer.provideMerge(HostedGateway.Default),
  Layer.provideMerge(ApiLive),
  Layer.provideMerge(RawRoutes.Default),
  Layer.provideMerge(Layer.mergeAll(HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer)),
  Layer.provideMerge(NodeHttpServer.layerContext)
)

/** The same, listening on one port. */
export const HttpLive = Layer.merge(MetricsServerLive, Layer.provide(ListenerLive, RoutesLive))
