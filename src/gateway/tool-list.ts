import { type MachineAddress } from "#src/machines/Machines.ts"
import { version } from "#src/version.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { machineFetch } from "./machine-fetch.ts"

/** Names of a machine's tools, and whether each is marked state-changing (`readOnlyHint: false`). */
export type ToolList = ReadonlyMap<string, boolean>

export interface ToolListRequest {
  readonly machine: MachineAddress
  /** Where the machine was going to be called, with its query. */
  readonly path: string
  /** Sent with each request: the caller's token, and what tells the machine that we are the gateway. */
  readonly headers: Readonly<Record<string, string>>
}

const timeoutMs = 5_000
const maxBytes = 4 * 1024 * 1024
const maxPages = 20

/** A message of the older transport names its session in the query; its tools are asked for at `/sse`. */
const isLegacy = (path: string) => /[?&]session_?id=/i.test(path)

/** The address that stands for a server's tools: two addresses of a machine may be two servers. */
export const doorOf = (path: string) => isLegacy(path) ? "/sse" : path.replace(/[?#].*$/, "")

const transportTo = ({ headers, machine, path }: ToolListRequest) => {
  const url = new URL(`http://machine${doorOf(path)}`)
  const fetch = machineFetch(machine, headers, maxBytes)
  return isLegacy(path)
    ? new SSEClientTransport(url, { fetch })
    : new StreamableHTTPClientTransport(url, { fetch })
}

const pages = async (client: Client, signal: AbortSignal): Promise<ToolList> => {
  const list = new Map<string, boolean>()
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const { nextCursor, tools } = await client.request({ method: "tools/list", params }, ListToolsResultSchema, {
      signal
    })
    for (const { annotations, name } of tools) {
      // Of two tools with one name nobody knows which is called.
      list.set(name, !list.has(name) && annotations?.readOnlyHint === false)
    }
    if (nextCursor === undefined) return list
    cursor = nextCursor
  }
  return list
}

/** Asks a machine for its tools, in the transport that the caller uses. Rejects when it does not tell in 5 seconds. */
export const listTools = async (request: ToolListRequest): Promise<ToolList> => {
  const transport = transportTo(request)
  const client = new Client({ name: "berth-gateway", version })
  const signal = AbortSignal.timeout(timeoutMs)
  const late = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
  try {
    const list = client.connect(transport as Transport, { signal }).then(() => pages(client, signal))
    return await Promise.race([list, late])
  } finally {
    const ended = transport instanceof StreamableHTTPClientTransport ? transport.terminateSession() : Promise.resolve()
    // Nobody waits for the machine to say goodbye.
    void ended.catch(() => undefined).then(() => client.close()).catch(() => undefined)
  }
}
