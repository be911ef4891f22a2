import { errorResponse } from "#http/answers/errors.ts"
import { StandardHeaders } from "#http/answers/StandardHeaders.ts"
import { requireActor } from "#http/callers/Authentication.ts"
import { CurrentCaller } from "#http/callers/caller.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { CurrentRoute } from "#http/traits/Traits.ts"
import { type Actor } from "#src/accounts/CurrentActor.ts"
import { Unauthorized } from "#src/accounts/Policy.ts"
import { CurrentSettings, type Settings } from "#src/config/Settings.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { BadRequest, codeOf, failsWith } from "#src/shared/Failure.ts"
import { McpTools, type Selection } from "#tools/McpServer.ts"
import { Toolset } from "#tools/Tool.ts"
import { HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js"
import { Effect, Layer, Option, Schedule, Schema } from "effect"
import { checkHost, checkOrigin, corsHeaders } from "./origins.ts"
import { mcpChallenge } from "./platform-resource.ts"
import { answerMessage, notAllowed, urlOf } from "./streamable.ts"

class StreamNotFound extends Schema.TaggedError<StreamNotFound>()("StreamNotFound", {}, failsWith(404)) {
  override get message() {
    return "There is no such open stream; connect to /sse again"
  }
}

interface Session {
  readonly transport: SSEServerTransport
  readonly owner: string
}

/**
 * A session belongs to the credential that opened it: knowing its id is not enough. A client's next token counts as the
 * same credential if it has the same scopes.
 */
const sessionOwner = ({ accountId, credential }: Actor) =>
  [accountId, credential.kind, credential.id, ...credential.kind === "oauth" ? [...credential.scopes].toSorted() : []]
    .join(" ")

const isToolset = Schema.is(Toolset)

const selectionOf = (url: URL): Effect.Effect<Selection, BadRequest> => {
  const text = url.searchParams.get("toolsets")
  if (text === null) return Effect.succeed(undefined)
  const names = text.split(",").map((name) => name.trim())
  if (names.includes("all")) return Effect.succeed(new Set(Toolset.literals))
  const unknown = names.find((name) => !isToolset(name))
  return unknown === undefined
    ? Effect.succeed(new Set(names.filter(isToolset)))
    : new BadRequest({ reason: `toolsets: "${unknown}" is not one of ${Toolset.literals.join(", ")}, all` })
}

/** CORS headers on every response, errors included: a page must be able to read where a 401 sends it to log in. */
const withCors = HttpApp.appendPreResponseHandler(({ headers }, response) =>
  Effect.succeed(HttpServerResponse.setHeaders(response, corsHeaders(headers["origin"])))
)

const tokenInUrl = (url: string) => /[?&]access_token=/i.test(url)

/** Checks Host and Origin, then returns the caller. */
const enterBy = (settings: Settings) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    yield* checkHost(settings, request.headers)
    yield* checkOrigin(settings, request.headers)
    yield* withCors
    if (tokenInUrl(request.url)) {
      return yield* new Unauthorized({ reason: "A token in the URL is not accepted; send it as Authorization: Bearer" })
    }
    const actor = yield* requireActor
    return { request, actor, address: yield* CallerAddress, selection: yield* selectionOf(urlOf(request)) }
  })

/** RFC 6750 §3.1: the error code of a 401; undefined when no credentials were sent. */
const errorOf = Effect.gen(function*() {
  const { headers, url } = yield* HttpServerRequest.HttpServerRequest
  if (headers["authorization"] === undefined) return undefined
  return tokenInUrl(url) && (yield* CurrentCaller)._tag === "Authenticated" ? "invalid_request" : "invalid_token"
})

/** A 401 says where to get a token. */
const unauthorized = (settings: Settings) =>
  Effect.fn("http.mcp.refuse")(function*({ message }: Unauthorized) {
    const { url } = yield* HttpServerRequest.HttpServerRequest
    return HttpServerResponse.setHeader(
      errorResponse((yield* CurrentRoute).traits, { status: 401, code: codeOf(401), message }),
      "www-authenticate",
      mcpChallenge(settings, url, yield* errorOf)
    )
  })

const routes = rawRoutes((add) =>
  Effect.gen(function*() {
    const tools = yield* McpTools
    const settings = yield* CurrentSettings
    const enter = enterBy(settings)
    const sessions = new Map<string, Session>()

    const withChallenge = <E, R>(route: Effect.Effect<HttpServerResponse.HttpServerResponse, E | Unauthorized, R>) =>
      Effect.catchIf(route, (error) => error instanceof Unauthorized, unauthorized(settings))
    const preflight = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
      checkOrigin(settings, headers).pipe(
        Effect.zipRight(withCors),
        Effect.as(HttpServerResponse.empty({ status: 204 }))
      ))

    yield* add(
      "POST",
      "/mcp",
      { credential: "mcp", body: "message" },
      Effect.gen(function*() {
        const { actor, address, request, selection } = yield* enter
        return yield* answerMessage(request, tools.serverFor({ actor, address }, selection))
      }).pipe(withChallenge)
    )
    // Stateless: there is no stream to open and no session to end (MCP 2025-11-25, transports).
    yield* add("GET", "/mcp", { credential: "mcp", alwaysRejects: true }, withChallenge(Effect.as(enter, notAllowed)))
    yield* add(
      "DELETE",
      "/mcp",
      { credential: "mcp", alwaysRejects: true },
      withChallenge(Effect.as(enter, notAllowed))
    )

    yield* add(
      "GET",
      "/sse",
      { credential: "mcp" },
      Effect.gen(function*() {
        const { actor, address, request, selection } = yield* enter
        const response = NodeHttpServerRequest.toServerResponse(request)
        const headers = { ...(yield* StandardHeaders), ...corsHeaders(request.headers["origin"]) }
        for (const [name, value] of Object.entries(headers)) {
          response.setHeader(name, value)
        }
        const path = new URL(`${settings.baseUrl}/message`).pathname
        const transport = new SSEServerTransport(path, response)
        sessions.set(transport.sessionId, { transport, owner: sessionOwner(actor) })
        yield* Effect.addFinalizer(() =>
          Effect.sync(() =>
            sessions.delete(transport.sessionId)
          )
        )
        yield* Effect.promise(() => tools.serverFor({ actor, address }, selection).connect(transport))
        // Proxies and clients close a silent stream.
        return yield* Effect.repeat(
          Effect.sync(() => response.write(": keep-alive\n\n")),
          Schedule.spaced("15 seconds")
        )
          .pipe(Effect.zipRight(Effect.never))
      }).pipe(withChallenge)
    )
    yield* add(
      "POST",
      "/message",
      { credential: "mcp", body: "message" },
      Effect.gen(function*() {
        const { actor, request } = yield* enter
        const id = urlOf(request).searchParams.get("sessionId") ?? ""
        const session = Option.filter(
          Option.fromNullable(sessions.get(id)),
          ({ owner }) => owner === sessionOwner(actor)
        )
        if (Option.isNone(session)) return yield* new StreamNotFound()
        // Responses to messages go through the stream; errors of this request use the envelope.
        const body = yield* Effect.mapError(request.json, ({ message }) => new BadRequest({ reason: message }))
        const handled = yield* Effect.either(Effect.tryPromise(() => session.value.transport.handleMessage(body)))
        return handled._tag === "Right"
          ? HttpServerResponse.text("Accepted", { status: 202 })
          : yield* new BadRequest({ reason: "The body is not a JSON-RPC message" })
      }).pipe(withChallenge)
    )
    for (const path of ["/mcp", "/sse", "/message"] as const) {
      yield* add("OPTIONS", path, { credential: "mcp" }, preflight)
    }
  })
)

/**
 * MCP: Streamable HTTP on /mcp, stateless, so that any instance can answer; the older SSE on /sse and /message, with
 * sessions in this process.
 */
export const McpRoutes = Layer.provide(routes, McpTools.Default)
