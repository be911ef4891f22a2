import { version } from "#src/config/version.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type FetchLike, type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { Schema } from "effect"
import { machineFetch } from "./machine-fetch.ts"
import { type Envelope, statelessRequest } from "./stateless-request.ts"

/** Names of a machine's tools, and whether each is marked state-changing (`readOnlyHint: false`). */
export type ToolList = ReadonlyMap<string, boolean>

export interface ToolListRequest {
  readonly machine: MachineAddress
  /** Where the machine was going to be called, with its query. */
  readonly path: string
  /** Sent with each request: the caller's token, and what tells the machine that we are the gateway. */
  readonly headers: Readonly<Record<string, string>>
  /** What the caller says of itself in a revision without sessions; undefined: in one of those before. */
  readonly envelope: Envelope | undefined
}

const timeoutMs = 5_000
const maxBytes = 4 * 1024 * 1024
const maxPages = 20

/** A message of the older transport names its session in the query; its tools are asked for at `/sse`. */
const isLegacy = (path: string) => /[?&]session_?id=/i.test(path)

/** The address that stands for a server's tools: two addresses of a machine may be two servers. */
export const doorOf = (path: string) => isLegacy(path) ? "/sse" : path.replace(/[?#].*$/, "")

/** Of a list's page what counts here; each revision adds to the rest. */
const Page = Schema.Struct({
  tools: Schema.Array(Schema.Struct({
    name: Schema.String,
    annotations: Schema.optional(Schema.Struct({ readOnlyHint: Schema.optional(Schema.Unknown) }))
  })),
  nextCursor: Schema.optional(Schema.String)
})
const decodePage = Schema.decodeUnknownSync(Page)

type Ask = (params: { readonly cursor?: string }) => Promise<unknown>

const pages = async (ask: Ask): Promise<ToolList> => {
  const list = new Map<string, boolean>()
  let params: Parameters<Ask>[0] = {}
  for (let page = 0; page < maxPages; page++) {
    const { nextCursor, tools } = decodePage(await ask(params))
    for (const { annotations, name } of tools) {
      // Of two tools with one name nobody knows which is called.
      list.set(name, !list.has(name) && annotations?.readOnlyHint === false)
    }
    if (nextCursor === undefined) return list
    params = { cursor: nextCursor }
  }
  return list
}

/** In a session, as all revisions before 2026-07-28 have it, in the transport that the caller uses. */
const inSession = async (fetch: FetchLike, url: URL, legacy: boolean, signal: AbortSignal): Promise<ToolList> => {
  const transport = legacy ? new SSEClientTransport(url, { fetch }) : new StreamableHTTPClientTransport(url, { fetch })
  const client = new Client({ name: "berth-gateway", version })
  const end = () => {
    const ended = transport instanceof StreamableHTTPClientTransport ? transport.terminateSession() : Promise.resolve()
    // Nobody waits for the machine to say goodbye.
    void ended.catch(() => undefined).then(() => client.close()).catch(() => undefined)
  }
  signal.addEventListener("abort", end)
  try {
    await client.connect(transport as Transport, { signal })
    return await pages((params) => client.request({ method: "tools/list", params }, ResultSchema, { signal }))
  } finally {
    signal.removeEventListener("abort", end)
    end()
  }
}

/** Asks a machine for its tools, in the revision that the caller speaks. Rejects when it does not tell in 5 seconds. */
export const listTools = ({ envelope, headers, machine, path }: ToolListRequest): Promise<ToolList> => {
  const signal = AbortSignal.timeout(timeoutMs)
  const late = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
  const url = new URL(`http://machine${doorOf(path)}`)
  const fetch = machineFetch(machine, headers, maxBytes)
  const list = envelope === undefined
    ? inSession(fetch, url, isLegacy(path), signal)
    : pages((params) => statelessRequest(fetch, url, { method: "tools/list", params, envelope }, signal))
  return Promise.race([list, late])
}
