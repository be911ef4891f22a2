import { type ServedMcp } from "#src/format/served-mcp.ts"
import { sessionServer } from "#src/format/session-server.ts"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { parseUrl } from "../format/parse-url.ts"
import { type Body, readJson } from "./body.ts"
import { type Follow, noFollow } from "./follow.ts"
import { type Check, noCheck } from "./gateway-check.ts"
import { callerOf } from "./holder.ts"
import { SseTransport } from "./SseTransport.ts"
import { answerTo } from "./streamable.ts"

/** SSE sessions open at once; each holds a socket and a timer. */
const maxSessions = 1000

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
}

const problem = (response: ServerResponse, status: number, code: string, message: string, headers = {}) =>
  json(response, status, { error: { code, message } }, headers)

const rpcError = (response: ServerResponse, status: number, code: number, message: string) =>
  json(response, status, { jsonrpc: "2.0", error: { code, message }, id: null })

/** Whether the body is usable; if not, responds with an error (JSON-RPC 2.0 § 5.1 codes). */
const isUsable = (response: ServerResponse, body: Body): body is Extract<Body, { readonly _tag: "Json" }> => {
  if (body._tag === "NotJson") rpcError(response, 400, -32700, "Parse error: the body is not JSON")
  if (body._tag === "TooLarge") rpcError(response, 413, -32600, "The body is larger than 1 MB")
  return body._tag === "Json"
}

const streamable = async (makeServer: () => ServedMcp, request: IncomingMessage, response: ServerResponse) => {
  const body = await readJson(request)
  if (!isUsable(response, body)) return
  const gone = new AbortController()
  response.on("close", () => gone.abort())
  const answer = await answerTo(makeServer(), request.headers, body.value, gone.signal)
  if (!gone.signal.aborted) response.writeHead(answer.status, answer.headers).end(answer.body)
}

type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => unknown

export interface HttpServer {
  readonly server: Server
  /** Event streams do not end by themselves: shutdown must end them. */
  readonly endStreams: () => void
}

export interface HttpServerOptions {
  /** The business's name. */
  readonly name: () => string
  readonly makeServer: () => ServedMcp
  readonly check?: Check
  /** Awaited before a request is answered, so that the configuration is fresh. */
  readonly follow?: Follow
}

/**
 * The business over HTTP: `/mcp` (stateless Streamable HTTP), `/sse` with `/message` (legacy), `/healthz`. All but the
 * last require that the request passes the check.
 */
export const makeHttpServer = (
  { check = noCheck, follow = noFollow, makeServer, name }: HttpServerOptions
): HttpServer => {
  const sessions = new Map<string, SseTransport>()

  const openSse = async (request: IncomingMessage, response: ServerResponse) => {
    if (sessions.size >= maxSessions) {
      return problem(response, 503, "busy", "Too many open sessions; try again later", { "retry-after": "10" })
    }
    const transport = new SseTransport(response, callerOf(request.headers))
    sessions.set(transport.sessionId, transport)
    response.on("close", () => sessions.delete(transport.sessionId))
    await sessionServer(makeServer()).connect(transport)
  }

  const message = async (url: URL, request: IncomingMessage, response: ServerResponse) => {
    const session = sessions.get(url.searchParams.get("sessionId") ?? "")
    // The id alone gives no access: another caller's session counts as unknown (MCP, session hijacking).
    if (session === undefined || session.caller !== callerOf(request.headers)) {
      return problem(response, 404, "not_found", "No such session; open a new one at /sse")
    }
    const body = await readJson(request)
    if (!isUsable(response, body)) return
    if (!session.receive(body.value)) return rpcError(response, 400, -32600, "The body is not a JSON-RPC message")
    response.writeHead(202).end("Accepted")
  }

  const healthz: Handler = (_, response) => json(response, 200, { status: "ok", business: name() })
  const routes: Record<string, Record<string, Handler>> = {
    "/healthz": { GET: healthz, HEAD: healthz },
    // A stateless server has no messages for a GET stream and no session to end (2025-11-25, Transports).
    "/mcp": { POST: (request, response) => streamable(makeServer, request, response) },
    "/sse": { GET: openSse },
    "/message": { POST: (request, response, url) => message(url, request, response) }
  }

  const route = async (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url ?? "/"
    const absolute = target.startsWith("/") ? `http://localhost${target}` : target
    const url = parseUrl(absolute)
    const path = url === undefined ? undefined : routes[url.pathname]
    if (url === undefined || path === undefined) {
      return problem(response, 404, "not_found", "Not found. MCP is served at /mcp, and at /sse for older clients.")
    }
    const handler = path[request.method ?? ""]
    const allow = Object.keys(path).join(", ")
    if (handler === undefined) return problem(response, 405, "method_not_allowed", `Use ${allow}`, { allow })
    const refusal = handler === healthz ? undefined : await check(request.headers)
    if (refusal !== undefined) {
      return problem(response, refusal.status, refusal.code, refusal.message, refusal.headers)
    }
    if (handler !== healthz) await follow()
    await handler(request, response, url)
  }

  const server = createServer((request, response) => {
    route(request, response).catch((error: unknown) => {
      process.stderr.write(`request failed: ${error instanceof Error ? error.message : String(error)}\n`)
      if (response.headersSent) response.destroy()
      else problem(response, 500, "internal_error", "The request could not be answered")
    })
  })
  // Longer than a proxy in front keeps its idle connections, so that it never writes into one that is closing.
  server.keepAliveTimeout = 75_000
  return { server, endStreams: () => sessions.forEach((session) => void session.close()) }
}
