import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type Id, isMessage, isRequest, type Message, rpcError } from "./message.ts"
import { type Sessions } from "./Sessions.ts"

/** Bytes of one request's body. */
const largest = 16 * 1024 * 1024
const sessionHeader = "mcp-session-id"
/** Since this revision there are neither handshake nor sessions. */
const firstStateless = "2026-07-28"

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
}

const refuse = (
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  { headers = {}, id = null }: { readonly headers?: Record<string, string>; readonly id?: Id | null } = {}
) => json(response, status, rpcError(id, code, message), headers)

const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const parts: Array<Buffer> = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    // The rest is read and forgotten, so that the client gets the answer.
    if (size <= largest) parts.push(part)
  }
  return size <= largest ? Buffer.concat(parts) : undefined
}

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

const header = (request: IncomingMessage, name: string) => {
  const value = request.headers[name]
  return typeof value === "string" ? value : undefined
}

/** Since this revision clients take an event without data. */
const primesFor = (request: IncomingMessage) => (header(request, "mcp-protocol-version") ?? "") >= "2025-11-25"

const isStateless = (request: IncomingMessage) => (header(request, "mcp-protocol-version") ?? "") >= firstStateless

const unknownSession = (response: ServerResponse, id: Id | null = null) =>
  refuse(response, 404, -32001, "Session not found: it has ended", { id })

const busy = (response: ServerResponse, id: Id | null) =>
  refuse(
    response,
    503,
    -32000,
    "All sessions of this server are in use; try again later. Its owner can allow more by more memory, or deploy " +
      "it with one process for all (processes: shared)",
    { headers: { "retry-after": "10" }, id }
  )

/** Streamable HTTP before a program that speaks MCP over its standard input and output. */
export const makeServer = (sessions: Sessions, healthPath = "/healthz") => {
  const health = new Set(["/healthz", healthPath])
  const sessionOf = async (request: IncomingMessage, messages: ReadonlyArray<Message>, response: ServerResponse) => {
    const named = header(request, sessionHeader)
    // An error in place of a batch's answers has none of their ids (JSON-RPC 2.0 §6).
    const [first] = messages
    const id = messages.length === 1 && first !== undefined && isRequest(first) ? first.id : null
    if (named !== undefined) return sessions.get(named) ?? void unknownSession(response, id)
    if (messages.some(({ method }) => method === "initialize")) return await sessions.open() ?? void busy(response, id)
    if (isStateless(request)) return sessions.stateless()
    refuse(response, 400, -32000, "The Mcp-Session-Id header is missing: initialize first", { id })
    return undefined
  }

  const post = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request)
    if (body === undefined) return refuse(response, 413, -32600, "The body is larger than 16 MiB")
    const parsed = parse(body)
    if (parsed === undefined) return refuse(response, 400, -32700, "Parse error: the body is not JSON")
    const messages: ReadonlyArray<unknown> = Array.isArray(parsed) ? parsed : [parsed]
    if (messages.length === 0 || !messages.every(isMessage)) {
      return refuse(response, 400, -32600, "Invalid Request: the body is not a JSON-RPC message")
    }
    const session = await sessionOf(request, messages, response)
    if (session === undefined) return
    const ids = messages.filter(isRequest).map(({ id }) => id)
    if (new Set(ids).size < ids.length || ids.some((id) => session.hasOpen(id))) {
      return refuse(response, 400, -32600, "Invalid Request: a request with this id is open in the session")
    }
    session.post(messages, response, primesFor(request))
    // A request without a session is all of its session.
    if (session.id === undefined) response.on("close", () => session.end())
  }

  const get = (request: IncomingMessage, response: ServerResponse) => {
    const id = header(request, sessionHeader)
    if (!/text\/event-stream/i.test(request.headers.accept ?? "")) {
      return refuse(response, 406, -32000, "Not Acceptable: a GET opens an event stream")
    }
    if (id === undefined) return refuse(response, 400, -32000, "The Mcp-Session-Id header is missing: initialize first")
    const session = sessions.get(id)
    if (session === undefined) return unknownSession(response)
    const lastEvent = header(request, "last-event-id")
    if (session.hasStream && lastEvent === undefined) {
      return refuse(response, 409, -32000, "The session has a stream already")
    }
    if (!session.listen(response, lastEvent)) refuse(response, 400, -32000, "The stream of this event has ended")
  }

  const remove = (request: IncomingMessage, response: ServerResponse) => {
    const id = header(request, sessionHeader) ?? ""
    if (sessions.get(id) === undefined) return unknownSession(response)
    sessions.end(id)
    response.writeHead(200).end()
  }

  const handle = (request: IncomingMessage, response: ServerResponse): unknown => {
    const path = (request.url ?? "/").split("?")[0]
    if (path === "/mcp" && request.method === "POST") return post(request, response)
    if (path === "/mcp" && request.method === "GET") return get(request, response)
    if (path === "/mcp" && request.method === "DELETE") return remove(request, response)
    if (path === "/mcp") {
      return json(response, 405, rpcError(null, -32000, "Method not allowed"), { allow: "GET, POST, DELETE" })
    }
    if (health.has(path ?? "") && request.method === "GET") return json(response, 200, { status: "ok" })
    return json(response, 404, { error: "Not found" })
  }

  return createServer((request, response) => {
    Promise.resolve(handle(request, response)).catch((error: unknown) => {
      process.stderr.write(`A request failed: ${String(error)}\n`)
      response.destroy()
    })
  })
}
