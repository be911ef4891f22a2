import { isRecord, messagesIn } from "./rpc-messages.ts"

/** Longer bodies, of requests as of answers, are not looked into. */
export const maxLooked = 64 * 1024
/** Of one batch. */
const maxCalls = 50

export interface Asked {
  readonly calls: ReadonlyArray<{ readonly id: unknown; readonly tool: string; readonly client: string | undefined }>
  /** How the client named itself in a handshake. */
  readonly client: string | undefined
}

type Message = Readonly<Record<string, unknown>>

const nothing: Asked = { calls: [], client: undefined }

const nameIn = (info: unknown) => isRecord(info) && typeof info["name"] === "string" ? info["name"] : undefined

/** Since revision 2026-07-28 each request names its client. */
const clientIn = ({ _meta: meta }: Readonly<Record<string, unknown>>) =>
  isRecord(meta) ? nameIn(meta["io.modelcontextprotocol/clientInfo"]) : undefined

/** Some write a slash in JSON with a backslash before it: what both ways have in common is enough for a first look. */
const isOfInterest = (body: string) => body.includes("/call\"") || body.includes("\"initialize\"")

const callIn = ({ id, method, params }: Message): Asked["calls"] =>
  method === "tools/call" && isRecord(params) && typeof params["name"] === "string"
    ? [{ id, tool: params["name"], client: clientIn(params) }]
    : []

const introducedBy = (message: Message | undefined) => {
  const params = message?.["params"]
  return isRecord(params) ? nameIn(params["clientInfo"]) : undefined
}

/** The tools that a request's body calls, or the client that it introduces. Cheap where it does neither. */
export const askedIn = (chunks: ReadonlyArray<Buffer>): Asked => {
  const body = whole(chunks)
  if (body === undefined || !isOfInterest(body)) return nothing
  const messages = messagesIn(body)
  const [only] = messages
  if (only !== undefined && messages.length === 1) {
    return { calls: callIn(only), client: only["method"] === "initialize" ? introducedBy(only) : undefined }
  }
  const introduced = messages.find(({ method }) => method === "initialize")
  return { calls: messages.flatMap(callIn).slice(0, maxCalls), client: introducedBy(introduced) }
}

/** Undefined: empty, or more than is looked into. */
const whole = (chunks: ReadonlyArray<Buffer>): string | undefined => {
  const [first] = chunks
  const size = chunks.length === 1 ? first!.length : chunks.reduce((sum, { length }) => sum + length, 0)
  if (first === undefined || size > maxLooked) return undefined
  return (chunks.length === 1 ? first : Buffer.concat(chunks)).toString("utf8")
}

const none: ReadonlySet<unknown> = new Set()

/** The ids of the requests that an answer says have failed: an error of JSON-RPC, or a tool's own (`isError`). */
export const failedIn = (chunks: ReadonlyArray<Buffer>, isStream: boolean): ReadonlySet<unknown> => {
  const body = whole(chunks)
  if (body === undefined || !(body.includes("\"isError\"") || body.includes("\"error\""))) return none
  return new Set(
    messagesIn(body, isStream).flatMap(({ error, id, result }) =>
      error !== undefined || isRecord(result) && result["isError"] === true ? [id] : []
    )
  )
}
