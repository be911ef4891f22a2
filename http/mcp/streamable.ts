import { allowedTypes } from "#http/answers/accept.ts"
import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { type Server } from "@modelcontextprotocol/sdk/server/index.js"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import { Effect } from "effect"

export const urlOf = (request: HttpServerRequest.HttpServerRequest) => new URL(request.url, "http://localhost")

/** Stateless: there is no stream to open and no session to end (MCP 2025-11-25, transports). */
export const notAllowed = HttpServerResponse.empty({ status: 405, headers: { allow: "POST, OPTIONS" } })

const transportOptions = { whole: { enableJsonResponse: true }, stream: {} } as const

const answerBy =
  (kind: keyof typeof transportOptions) => (request: HttpServerRequest.HttpServerRequest, server: Server) =>
    Effect.gen(function*() {
      const parsedBody = yield* request.json
      const transport = new WebStandardStreamableHTTPServerTransport(transportOptions[kind])
      yield* Effect.promise(() => server.connect(transport))
      const headers = { ...request.headers, accept: allowedTypes(request.headers) }
      const copy = new Request(urlOf(request), { method: "POST", headers })
      const answer = yield* Effect.promise(() => transport.handleRequest(copy, { parsedBody }))
      // Node decides with the client whether the connection stays open.
      answer.headers.delete("connection")
      if (kind === "stream" || answer.body === null) return HttpServerResponse.fromWeb(answer)
      const text = yield* Effect.promise(() => answer.text())
      return HttpServerResponse.text(text, { status: answer.status, headers: Object.fromEntries(answer.headers) })
    })

/** Answers one POST of Streamable HTTP with a server that is made for it, by an event stream. */
export const answerMessage = answerBy("stream")

/** The same as one JSON document, for servers that say nothing before they answer. */
export const answerWhole = answerBy("whole")
