import { version } from "#src/config/version.ts"
import { machineFetch } from "#src/machines/machine-fetch.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { calmEvents } from "#src/routing/calm-events.ts"
import { readPages } from "#src/routing/list-pages.ts"
import { withFewRequests, withFewStreams } from "#src/routing/quiet-transport.ts"
import { type Envelope, statelessRequest } from "#src/routing/stateless-request.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type FetchLike, type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { Schema } from "effect"

/** Names of a machine's tools, and whether each is marked state-changing (`readOnlyHint: false`). */
export type ToolList = ReadonlyMap<string, boolean>

export interface ToolListRequest {
  readonly machine: MachineAddress
  /** The path of the call to the machine, with its query. */
  readonly path: string
  /** Sent with each request: the caller's token, and the token that identifies the gateway. */
  readonly headers: Readonly<Record<string, string>>
  /** The caller's envelope in a stateless revision; undefined in earlier ones. */
  readonly envelope: Envelope | undefined
}

const timeoutMs = 5_000
const maxBytes = 4 * 1024 * 1024
/** Of all pages together. */
const mostBytes = 4 * 1024 * 1024
const mostTools = 10_000

/** A message of the older transport has its session in the query; its tools are listed through `/sse`. */
const isLegacy = (path: string) => /[?&]session_?id=/i.test(path)

/** The path that identifies a list of tools: two paths of a machine may be two servers. */
export const endpointOf = (path: string) => isLegacy(path) ? "/sse" : path.replace(/[?#].*$/, "")

/** The fields of a page that matter here; revisions add others. */
const Page = Schema.Struct({
  tools: Schema.Array(Schema.Struct({
    name: Schema.String,
    annotations: Schema.optional(Schema.Struct({ readOnlyHint: Schema.optional(Schema.Unknown) }))
  }))
})
const decodePage = Schema.decodeUnknownSync(Page)

type ListPage = (params: { readonly cursor?: string }) => Promise<unknown>

const pages = async (listPage: ListPage): Promise<ToolList> => {
  const list = new Map<string, boolean>()
  await readPages(listPage, (page) => {
    for (const { annotations, name } of decodePage(page).tools) {
      // With two tools of one name it is unknown which one is called.
      list.set(name, !list.has(name) && annotations?.readOnlyHint === false)
    }
    return list.size < mostTools
  }, mostBytes)
  return list
}

/** Lists tools in a session (revisions before 2026-07-28), with the caller's transport. */
const inSession = async (fetch: FetchLike, url: URL, legacy: boolean, signal: AbortSignal): Promise<ToolList> => {
  const transport = legacy ? new SSEClientTransport(url, { fetch }) : new StreamableHTTPClientTransport(url, { fetch })
  const client = new Client({ name: "berth-gateway", version })
  const end = () => {
    const ended = transport instanceof StreamableHTTPClientTransport ? transport.terminateSession() : Promise.resolve()
    // Nothing waits for the machine to end the session.
    void ended.catch(() => undefined).then(() => client.close()).catch(() => undefined)
  }
  signal.addEventListener("abort", end)
  try {
    await client.connect(withFewRequests(transport as Transport), { signal })
    return await pages((params) => client.request({ method: "tools/list", params }, ResultSchema, { signal }))
  } finally {
    signal.removeEventListener("abort", end)
    end()
  }
}

/** Lists a machine's tools, in the caller's revision. Rejects after 5 seconds. */
export const listTools = ({ envelope, headers, machine, path }: ToolListRequest): Promise<ToolList> => {
  const signal = AbortSignal.timeout(timeoutMs)
  const timeout = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
  const url = new URL(`http://machine${endpointOf(path)}`)
  const fetch = withFewStreams(calmEvents(machineFetch(machine, headers, maxBytes)))
  const list = envelope === undefined
    ? inSession(fetch, url, isLegacy(path), signal)
    : pages((params) => statelessRequest(fetch, url, { method: "tools/list", params, envelope }, signal))
  return Promise.race([list, timeout])
}
