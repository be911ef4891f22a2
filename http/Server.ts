import { CurrentSettings } from "#src/Config.ts"
import { Machines } from "#src/machines/Machines.ts"
import { HttpApiBuilder, type HttpApp, HttpMiddleware, HttpRouter } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { type RequestListener } from "node:http"
import { AccountsHandlers } from "./accounts/Handlers.ts"
import { Api } from "./Api.ts"
import { AuthenticationLive } from "./Authentication.ts"
import { BillingHandlers } from "./billing/Handlers.ts"
import { bounded } from "./bodies.ts"
import { BusinessesHandlers } from "./businesses/Handlers.ts"
import { CatalogHandlers } from "./catalog/Handlers.ts"
import { ClientsHandlers } from "./clients/Handlers.ts"
import { answersPreflights } from "./cors.ts"
import { DeploymentsHandlers } from "./deployments/Handlers.ts"
import { DirectoryHandlers } from "./directory/Handlers.ts"
import { DocsRoutes } from "./docs.ts"
import { EnvironmentHandlers } from "./environment/Handlers.ts"
import { withoutExpectations } from "./expectations.ts"
import { frontDoor } from "./frontDoor.ts"
import { makeGateway } from "./gateway/Gateway.ts"
import { GrantsHandlers } from "./grants/Handlers.ts"
import { HealthHandlers } from "./health/Handlers.ts"
import { idempotent } from "./idempotency.ts"
import { ImportsHandlers } from "./imports/Handlers.ts"
import { TemplatesRoutes } from "./imports/templates.ts"
import { listen } from "./listen.ts"
import { restrictsMachines } from "./machines/access.ts"
import { machineServer } from "./machines/server.ts"
import { McpRoutes } from "./mcp.ts"
import { routing, withMethods } from "./methods.ts"
import { OAuthRoutes } from "./oauth/endpoints.ts"
import { MetadataRoutes } from "./oauth/metadata.ts"
import { PlatformResourceRoutes } from "./oauth/platform-resource.ts"
import { RegisterRoute } from "./oauth/register.ts"
import { jwks } from "./oauth/routes.ts"
import { PagesRoutes } from "./pages/routes.ts"
import { ProjectsHandlers } from "./projects/Handlers.ts"
import { PublishingHandlers } from "./publishing/Handlers.ts"
import { withReadableQuery } from "./query-text.ts"
import { NamelessConfigRoute, ReadyConfigHandlers } from "./ready-config/Handlers.ts"
import { SelfConfigRoute } from "./ready-config/self.ts"
import { RegistryHandlers } from "./registry/Handlers.ts"
import { ServersHandlers } from "./servers/Handlers.ts"
import { VerificationHandlers } from "./verification/Handlers.ts"

const ApiLive = HttpApiBuilder.api(Api).pipe(
  Layer.provide([
    AccountsHandlers,
    BillingHandlers,
    BusinessesHandlers,
    CatalogHandlers,
    ClientsHandlers,
    DeploymentsHandlers,
    DirectoryHandlers,
    EnvironmentHandlers,
    GrantsHandlers,
    HealthHandlers,
    ImportsHandlers,
    ProjectsHandlers,
    RegistryHandlers,
    ReadyConfigHandlers,
    PublishingHandlers,
    ServersHandlers,
    VerificationHandlers
  ]),
  Layer.provide(AuthenticationLive)
)

const doors = Effect.gen(function*() {
  const methods = yield* withMethods
  const forMachines = restrictsMachines(yield* CurrentSettings)
  return (app: HttpApp.Default) =>
    frontDoor(
      withoutExpectations(forMachines(answersPreflights(methods(withReadableQuery(bounded(idempotent(app)))))))
    )
})

const JwksRoute = HttpApiBuilder.Router.use((router) =>
  Effect.flatMap(jwks, (answer) => router.get("/api/v1/oauth/jwks", answer))
)

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
    McpRoutes,
    PagesRoutes,
    DocsRoutes,
    JwksRoute,
    MetadataRoutes,
    NamelessConfigRoute,
    OAuthRoutes,
    PlatformResourceRoutes,
    RegisterRoute,
    SelfConfigRoute,
    TemplatesRoutes
  ]),
  Layer.provide(ApiLive),
  Layer.provide([HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer]),
  Layer.provide(NodeHttpServer.layerContext)
)
