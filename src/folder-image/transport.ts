import { type LayoutEntry } from "#src/images/layout.ts"
import { readFile } from "node:fs/promises"

export type Transport = "stdio" | "http"

export interface Chosen {
  readonly transport: Transport
  readonly because: string
}

/** Names of the SDKs for JavaScript, by which a program shows how it speaks MCP. */
const speaksStdio = /StdioServerTransport|server\/stdio(\.js)?["'`]|transportType:\s*["'`]stdio/
const speaksHttp =
  /StreamableHTTPServerTransport|SSEServerTransport|createMcpExpressApp|\.listen\(|transportType:\s*["'`](httpStream|sse)/

const isSource = /\.[cm]?[jt]sx?$/
const mostFiles = 500

/** How a project speaks MCP, by what its sources use; of both, what they say of stdio. */
export const transportOf = async (entries: ReadonlyArray<LayoutEntry>): Promise<Chosen> => {
  let http: string | undefined
  for (const entry of entries.filter(({ path }) => isSource.test(path)).slice(0, mostFiles)) {
    if (entry.type !== "copy") continue
    const text = await readFile(entry.from, "utf8").catch(() => "")
    const shown = entry.path.slice(entry.path.indexOf("/") + 1)
    if (speaksStdio.test(text)) return { transport: "stdio", because: `${shown} uses MCP's transport over stdio` }
    if (http === undefined && speaksHttp.test(text)) http = shown
  }
  return http === undefined
    ? { transport: "stdio", because: "no file of it listens" }
    : { transport: "http", because: `${http} listens` }
}
