import { allowedTypes } from "#http/answers/accept.ts"
import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { type Server } from "@modelcontextprotocol/sdk/server/index.js"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import { Effect } from "effect"

export const urlOf = (request: HttpServerRequest.HttpServerRequest) => new URL(request.url, "http://localhost")

/** Stateless: there is no stream to open and no session to end (MCP 2025-11-25, transports). */
export const notAllowed = HttpServerResponse.empty({ status: 405, headers: { allow: "POST, OPTIONS" } })

/** Answers one POST of Streamable HTTP with a server that is made for it. */
export const answerMessage = (request: HttpServerRequest.HttpServerRequest, server: Server) =>
  Effect.gen(function*() {
    const parsedBody = yield* request.json
    const transport = new WebStandardStreamableHTTPServerTransport()
    yield* Effect.promise(() => server.connect(transport))
    const headers = { ...request.headers, accept: allowedTypes(request.headers) }
    const copy = new Request(urlOf(request), { method: "POST", headers })
    const answer = yield* Effect.promise(() => transport.handleRequest(copy, { parsedBody }))
    // Node decides with the client whether the connection stays open.
    answer.headers.delete("connection")
    return HttpServerResponse.fromWeb(answer)
  })
