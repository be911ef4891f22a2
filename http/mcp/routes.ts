import { UnknownCoding } from "#http/answers/body-errors.ts"
import { eventStreamType } from "#http/answers/event-stream.ts"
import { rpcIdIn } from "#http/answers/json-rpc.ts"
import { StandardHeaders } from "#http/answers/StandardHeaders.ts"
import { OpenStreams } from "#http/callers/OpenStreams.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { type Actor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { sessionServer } from "#src/format/session-server.ts"
import { BadRequest, failsWith } from "#src/shared/Failure.ts"
import { McpTools } from "#tools/McpServer.ts"
import { HttpServerResponse } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js"
import { Effect, Layer, Option, Schedule, Schema } from "effect"
import { type OutgoingHttpHeaders, type ServerResponse } from "node:http"
import { challenging, enterBy, preflightBy } from "./enter.ts"
import { corsHeaders } from "./origins.ts"
import { answerMessage, notAllowed, urlOf } from "./streamable.ts"
import { selectionOf } from "./toolsets.ts"

/** As the error of a session that has ended (MCP 2025-11-25, Session Management). */
class StreamNotFound extends Schema.TaggedError<StreamNotFound>()("StreamNotFound", {
  id: Schema.NullOr(Schema.Union(Schema.String, Schema.Number))
}, failsWith(404)) {
  override get message() {
    return "Session not found: its stream has ended; connect to /sse again"
  }
  get jsonRpc() {
    return { code: -32001, id: this.id }
  }
}

interface Session {
  readonly transport: SSEServerTransport
  readonly owner: string
  /** As whom the calls run: as whoever sent the newest message, since a plan or token may change under an open stream. */
  readonly caller: { actor: Actor; address: string }
}

/**
 * A session belongs to the credential that opened it: knowing its id is not enough. A client's next token counts as the
 * same credential if it has the same scopes.
 */
const sessionOwner = ({ accountId, credential }: Actor) =>
  [accountId, credential.kind, credential.id, ...credential.kind === "oauth" ? [...credential.scopes].toSorted() : []]
    .join(" ")

/** The SDK's transport names no charset. */
const withEventStreamType = (response: ServerResponse) => {
  const writeHead = response.writeHead.bind(response)
  response.writeHead = (status: number, headers?: unknown) =>
    writeHead(status, { ...headers as OutgoingHttpHeaders, "Content-Type": eventStreamType })
  return response
}

const routes = rawRoutes((add) =>
  Effect.gen(function*() {
    const tools = yield* McpTools
    const streams = yield* OpenStreams
    const settings = yield* CurrentSettings
    const enter = Effect.flatMap(enterBy(settings), (entered) =>
      Effect.map(selectionOf(entered.request), (selection) => ({ ...entered, selection })))
    const sessions = new Map<string, Session>()

    const withChallenge = challenging(settings)
    const preflight = preflightBy(settings)

    yield* add(
      "POST",
      "/mcp",
      { credential: "mcp", body: "message" },
      Effect.gen(function*() {
        const { actor, address, request, selection } = yield* enter
        yield* streams.enter(actor)
        return yield* answerMessage(request, tools.serverFor({ actor, address }, selection), sessionOwner(actor))
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
        yield* streams.enter(actor)
        const response = NodeHttpServerRequest.toServerResponse(request)
        const headers = { ...(yield* StandardHeaders), ...corsHeaders(request.headers["origin"]) }
        for (const [name, value] of Object.entries(headers)) {
          response.setHeader(name, value)
        }
        const path = new URL(`${settings.baseUrl}/message`).pathname
        const transport = new SSEServerTransport(path, withEventStreamType(response))
        const caller = { actor, address }
        sessions.set(transport.sessionId, { transport, owner: sessionOwner(actor), caller })
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => sessions.delete(transport.sessionId))
        )
        yield* Effect.promise(() => sessionServer(tools.serverFor(caller, selection)).connect(transport))
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
        const { actor, address, request } = yield* enter
        const id = urlOf(request).searchParams.get("sessionId") ?? ""
        const session = Option.filter(
          Option.fromNullable(sessions.get(id)),
          ({ owner }) => owner === sessionOwner(actor)
        )
        if (Option.isNone(session)) {
          const text = yield* Effect.orElseSucceed(request.text, () => "")
          return yield* new StreamNotFound({ id: rpcIdIn(text) })
        }
        Object.assign(session.value.caller, { actor, address })
        // Responses to messages go through the stream; errors of this request use the envelope.
        const body = yield* Effect.mapError(
          request.json,
          (error: Error) => error instanceof UnknownCoding ? error : new BadRequest({ reason: error.message })
        )
        const handled = yield* Effect.either(
          Effect.tryPromise(() =>
            session.value.transport.handleMessage(body, { requestInfo: { headers: request.headers } })
          )
        )
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
export const McpRoutes = Layer.provide(routes, [McpTools.Default, OpenStreams.Default])
