import { version } from "#src/config/version.ts"
import { type McpTransport } from "../McpReport.ts"
import { type Door } from "./door.ts"
import { type Cause, HandshakeFailed } from "./failure.ts"
import { eventsOf, type Fields, isEventStream, isFields, kindOf, type Reply, replyIn, replyOf } from "./rpc.ts"

/** A server that has answered the handshake. `call` rejects with `HandshakeFailed`. */
export interface Session {
  readonly transport: McpTransport
  readonly revision: string
  /** What the server says that it has (MCP 2025-11-25, Lifecycle). */
  readonly capabilities: Fields
  readonly call: (method: string, params: Fields) => Promise<unknown>
  /** Ends the session; nothing waits for it. */
  readonly end: () => void
}

/** The newest revision with a handshake, and the first one without. */
const latest = "2025-11-25"
const stateless = "2026-07-28"

const clientInfo = { name: "berth", version }
const hello = { protocolVersion: latest, capabilities: {}, clientInfo }
const initialized = "notifications/initialized"
const json = { "content-type": "application/json", accept: "application/json, text/event-stream" }
const endMs = 1_000

const request = (id: number, method: string, params: Fields) => JSON.stringify({ jsonrpc: "2.0", id, method, params })
const notification = (method: string) => JSON.stringify({ jsonrpc: "2.0", method })

const lost = (error: unknown): Cause => {
  const { code, message }: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error))
  return { _tag: "Lost", why: code?.startsWith("HPE_") ? "it does not speak HTTP" : message }
}

const resultOf = (reply: Reply, path: string, method: string) => {
  if (reply._tag === "Result") return reply.result
  throw new HandshakeFailed({ path, method, cause: reply })
}

/** A revision is a date. */
const revisionOf = (result: unknown, path: string): string => {
  const revision = isFields(result) ? result["protocolVersion"] : undefined
  if (typeof revision === "string" && /^\d{4}-\d\d-\d\d$/.test(revision)) return revision
  const cause = { _tag: "NotMcp", what: "without a protocolVersion that is a date" } as const
  throw new HandshakeFailed({ path, method: "initialize", cause })
}

const capabilitiesIn = (result: unknown): Fields => {
  const capabilities = isFields(result) ? result["capabilities"] : undefined
  return isFields(capabilities) ? capabilities : {}
}

/** Revisions since 2026-07-28, which have no handshake: every request says who sends it. */
const withoutHandshake = async (door: Door, signal: AbortSignal): Promise<Session> => {
  const path = "/mcp"
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": stateless,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": {}
  }
  let id = 0
  const call: Session["call"] = async (method, params) => {
    id++
    const headers = { ...json, "mcp-protocol-version": stateless, "mcp-method": method }
    const body = request(id, method, { ...params, _meta })
    const answer = door.fetch(new URL(`${door.url}${path}`), { method: "POST", headers, body, signal })
    return resultOf(await answer.then((response) => replyOf(response, id)).catch(lost), path, method)
  }
  const capabilities = capabilitiesIn(await call("server/discover", {}))
  return { transport: "streamable-http", revision: stateless, capabilities, call, end: () => undefined }
}

/** Codes with which servers of stateless revisions, or of other ones, refuse `initialize`. */
const knowsNoInitialize = ({ cause }: HandshakeFailed) =>
  cause._tag === "Error" && [-32601, -32602, -32600, -32022, -32000].includes(cause.code)

/** Streamable HTTP at `/mcp`. */
export const streamable = async (door: Door, signal: AbortSignal): Promise<Session> => {
  const path = "/mcp"
  const url = new URL(`${door.url}${path}`)
  let id = 0
  let session: Readonly<Record<string, string>> = {}
  const post = (body: string) => door.fetch(url, { method: "POST", headers: { ...json, ...session }, body, signal })
  const call: Session["call"] = async (method, params) => {
    const reply = await post(request(++id, method, params)).then((response) => {
      const given = response.headers.get("mcp-session-id")
      if (given !== null) session = { ...session, "mcp-session-id": given }
      return replyOf(response, id)
    }).catch(lost)
    return resultOf(reply, path, method)
  }
  const end = () => {
    if (session["mcp-session-id"] === undefined) return
    const ended = door.fetch(url, { method: "DELETE", headers: session, signal: AbortSignal.timeout(endMs) })
    void ended.then((response) => response.body?.cancel()).catch(() => undefined)
  }
  try {
    const welcome = await call("initialize", hello)
    const revision = revisionOf(welcome, path)
    session = { ...session, "mcp-protocol-version": revision }
    await post(notification(initialized)).then((response) => response.body?.cancel()).catch(() => undefined)
    return { transport: "streamable-http", revision, capabilities: capabilitiesIn(welcome), call, end }
  } catch (error) {
    if (!(error instanceof HandshakeFailed) || !knowsNoInitialize(error)) throw error
    return await withoutHandshake(door, signal).catch(() => Promise.reject(error))
  }
}

/** HTTP+SSE (MCP 2024-11-05): answers come through the stream of `/sse`, to requests posted at the address it names. */
export const legacy = async (door: Door, signal: AbortSignal): Promise<Session> => {
  const path = "/sse"
  const failed = (method: string, cause: Cause) => new HandshakeFailed({ path, method, cause })
  const opening = door.fetch(new URL(`${door.url}${path}`), {
    method: "GET",
    headers: { accept: "text/event-stream" },
    signal
  })
  const response = await opening.catch((error: unknown) => Promise.reject(failed("endpoint", lost(error))))
  if (response.status !== 200) throw failed("endpoint", { _tag: "Status", status: response.status })
  if (!isEventStream(response)) {
    throw failed("endpoint", { _tag: "NotMcp", what: `200 with ${kindOf(response)} in place of an event stream` })
  }
  const events = eventsOf(response)

  const next = async () => {
    const { done, value } = await events.next()
    if (done === true) throw new Error("its event stream ended")
    return value
  }
  const answerTo = async (id: number): Promise<Reply> => {
    for (;;) {
      const reply = replyIn((await next()).data, id)
      if (reply !== undefined) return reply
    }
  }
  const first = await next().catch((error: unknown) => Promise.reject(failed("endpoint", lost(error))))
  if (first.event !== "endpoint") {
    throw failed("endpoint", { _tag: "NotMcp", what: "with an event stream that does not begin with an endpoint" })
  }

  const post = async (body: string) => {
    const answer = await door.fetch(door.endpoint(first.data), { method: "POST", headers: json, body, signal })
    await answer.body?.cancel()
    return answer.status
  }
  /** Settles only when the message was refused: a server may leave the POST open until it has answered. */
  const refusal = (body: string) =>
    new Promise<Reply>((resolve) => {
      post(body).then(
        (status) => status < 300 ? undefined : resolve({ _tag: "Status", status }),
        (error: unknown) => resolve(lost(error))
      )
    })
  let id = 0
  const call: Session["call"] = async (method, params) => {
    id++
    const answer = answerTo(id).catch(lost)
    return resultOf(await Promise.race([answer, refusal(request(id, method, params))]), path, method)
  }
  const welcome = await call("initialize", hello)
  const revision = revisionOf(welcome, path)
  await Promise.race([post(notification(initialized)).catch(() => undefined), new Promise((go) => setTimeout(go, 200))])
  return { transport: "sse", revision, capabilities: capabilitiesIn(welcome), call, end: () => undefined }
}
