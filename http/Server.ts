import { CurrentSettings } from "#src/Config.ts"
import { McpTools } from "#tools/McpServer.ts"
import { FileSystem, HttpApiBuilder, type HttpApp, HttpIncomingMessage } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Option } from "effect"
import { createServer, type RequestListener } from "node:http"
import { AccountsHandlers } from "./accounts/Handlers.ts"
import { Api } from "./Api.ts"
import { AuthenticationLive } from "./Authentication.ts"
import { BillingHandlers } from "./billing/Handlers.ts"
import { jsonOnly } from "./bodies.ts"
import { DocsRoutes } from "./docs.ts"
import { EnvironmentHandlers } from "./environment/Handlers.ts"
import { frontDoor } from "./frontDoor.ts"
import { HealthHandlers } from "./health/Handlers.ts"
import { idempotent } from "./idempotency.ts"
import { listen } from "./listen.ts"
import { McpRoutes } from "./mcp.ts"
import { ProjectsHandlers } from "./projects/Handlers.ts"
import { ServersHandlers } from "./servers/Handlers.ts"

/** Bodies of ours are small; 1 MiB is far above the largest that fits its schema. */
const maxBody = Option.some(FileSystem.Size(1024 * 1024))

const ApiLive = HttpApiBuilder.api(Api).pipe(
  Layer.provide([
    AccountsHandlers,
    BillingHandlers,
    EnvironmentHandlers,
    HealthHandlers,
    ProjectsHandlers,
    ServersHandlers
  ]),
  Layer.provide(AuthenticationLive)
)

const doors = (app: HttpApp.Default) =>
  frontDoor(jsonOnly(idempotent(app))).pipe(Effect.provideService(HttpIncomingMessage.MaxBodySize, maxBody))

const ListenerLive = Layer.scopedDiscard(Effect.gen(function*() {
  const { host, port } = yield* CurrentSettings
  const app = yield* HttpApiBuilder.httpApp
  const handle: RequestListener = yield* NodeHttpServer.makeHandler(app)
  yield* listen(createServer(handle), { host, port })
}))

/** Every route on one port. Needs the services. */
export const HttpLive = ListenerLive.pipe(
  Layer.provide([HttpApiBuilder.middleware(Effect.succeed(doors), { withContext: true }), McpRoutes, DocsRoutes]),
  Layer.provide(ApiLive),
  Layer.provide([HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer, McpTools.Default]),
  Layer.provide(NodeHttpServer.layerContext)
)
