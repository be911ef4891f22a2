import { openHeaders } from "#http/answers/cors.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { DirectoryDoor } from "#tools/DirectoryDoor.ts"
import { HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Layer } from "effect"
import { checkHost } from "./origins.ts"
import { answerMessage, notAllowed } from "./streamable.ts"

/** Any page may use it: what it answers is the same for everybody, and no cookie counts. */
const cors = {
  ...openHeaders,
  "access-control-allow-methods": "POST, OPTIONS",
  "access-control-allow-headers":
    "authorization, x-api-key, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id",
  "access-control-expose-headers": "mcp-protocol-version, retry-after, x-request-id",
  "access-control-max-age": "86400"
}

const withCors = HttpApp.appendPreResponseHandler((_, response) =>
  Effect.succeed(HttpServerResponse.setHeaders(response, cors))
)

/** A hub key counts in its own day; everybody else by address. */
const traits = { credential: "hub", codes: "lower", rate: "directoryDoor" } as const

const routes = rawRoutes((add) =>
  Effect.gen(function*() {
    const door = yield* DirectoryDoor
    const settings = yield* CurrentSettings
    const enter = Effect.tap(
      HttpServerRequest.HttpServerRequest,
      ({ headers }) => Effect.zipRight(withCors, checkHost(settings, headers))
    )
    const post = Effect.zipWith(
      enter,
      CallerAddress,
      (request, address) => answerMessage(request, door.server(address))
    ).pipe(Effect.flatten)
    const rejected = Effect.as(enter, notAllowed)
    yield* add("POST", "/mcp/directory", { ...traits, body: "message" }, post)
    yield* add("GET", "/mcp/directory", { ...traits, alwaysRejects: true }, rejected)
    yield* add("DELETE", "/mcp/directory", { ...traits, alwaysRejects: true }, rejected)
    yield* add(
      "OPTIONS",
      "/mcp/directory",
      traits,
      Effect.as(enter, HttpServerResponse.empty({ status: 204 }))
    )
  })
)

/** The directory over MCP (Streamable HTTP, stateless), without a login. */
export const DirectoryDoorRoutes = Layer.provide(routes, DirectoryDoor.Default)
