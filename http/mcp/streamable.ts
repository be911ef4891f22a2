import { allowedTypes } from "#http/answers/accept.ts"
import { type ServedMcp } from "#src/format/served-mcp.ts"
import { sessionServer } from "#src/format/session-server.ts"
import { answerStateless, hasSessions } from "#src/format/stateless-mcp.ts"
import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import { Effect } from "effect"

export const urlOf = (request: HttpServerRequest.HttpServerRequest) => new URL(request.url, "http://localhost")

/** Stateless: there is no stream to open and no session to end (MCP 2025-11-25, transports). */
export const notAllowed = HttpServerResponse.empty({ status: 405, headers: { allow: "POST, OPTIONS" } })

const transportOptions = { whole: { enableJsonResponse: true }, stream: {} } as const

type Kind = keyof typeof transportOptions

const inSession = async (served: ServedMcp, request: Request, parsedBody: unknown, kind: Kind) => {
  const transport = new WebStandardStreamableHTTPServerTransport(transportOptions[kind])
  await sessionServer(served).connect(transport)
  return transport.handleRequest(request, { parsedBody })
}

const isStream = ({ headers }: Response) => headers.get("content-type")?.startsWith("text/event-stream") === true

/** By what the request says of itself, in the era of `initialize` or in that of revision 2026-07-28. */
const answerBy = (kind: Kind) => (request: HttpServerRequest.HttpServerRequest, served: ServedMcp) =>
  Effect.gen(function*() {
    const body = yield* request.json
    const headers = { ...request.headers, accept: allowedTypes(request.headers) }
    const answer = yield* Effect.promise(async (signal) => {
      const copy = new Request(urlOf(request), { method: "POST", headers, signal })
      return await hasSessions(copy, body)
        ? inSession(served, copy, body, kind)
        : answerStateless(served, copy, body, kind)
    })
    // Node decides with the client whether the connection stays open.
    answer.headers.delete("connection")
    if (kind === "stream" && isStream(answer) || answer.body === null) return HttpServerResponse.fromWeb(answer)
    const text = yield* Effect.promise(() => answer.text())
    return HttpServerResponse.text(text, { status: answer.status, headers: Object.fromEntries(answer.headers) })
  })

/** Answers one POST of Streamable HTTP with a server that is made for it, by an event stream. */
export const answerMessage = answerBy("stream")

/** The same as one JSON document, for servers that say nothing before they answer. */
export const answerWhole = answerBy("whole")
