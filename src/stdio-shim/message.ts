/** A JSON-RPC message. What the two sides say to each other is theirs: only these fields are looked at. */
export interface Message {
  readonly jsonrpc?: unknown
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: unknown
}

export type Id = string | number

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** JSON-RPC 2.0 § 4 and § 5: a method, or the response to an id. */
export const isMessage = (value: unknown): value is Message => {
  if (!isRecord(value)) return false
  const { id, method, params } = value
  if (params !== undefined && typeof params !== "object") return false
  if (id !== undefined && id !== null && typeof id !== "string" && typeof id !== "number") return false
  return method === undefined ? id !== undefined && ("result" in value || "error" in value) : typeof method === "string"
}

export const idOf = ({ id }: Message): Id | undefined => id === null ? undefined : id

export const isRequest = (message: Message): message is Message & { readonly id: Id; readonly method: string } =>
  message.method !== undefined && idOf(message) !== undefined

export const isResponse = (message: Message) => message.method === undefined

/** The token by which progress is told for a request (MCP, Progress). */
export const progressTokenOf = ({ params }: Message): unknown => {
  const meta = params?.["_meta"]
  return isRecord(meta) ? meta["progressToken"] : undefined
}

/** How a client names itself in its handshake (MCP, Lifecycle). */
export const clientNameOf = (initialize: Message | undefined): unknown => {
  const info = initialize?.params?.["clientInfo"]
  return isRecord(info) ? info["name"] : undefined
}

/** The same request with another token. */
export const withProgressToken = (message: Message, progressToken: Id): Message => ({
  ...message,
  params: { ...message.params, _meta: { ...message.params?.["_meta"] as object, progressToken } }
})

export const rpcError = (id: Id | null, code: number, message: string): Message => ({
  jsonrpc: "2.0",
  error: { code, message },
  id
})
