import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { type CallToolResult, CallToolResultSchema, type ListToolsResult } from "@modelcontextprotocol/sdk/types.js"

export const clientInfo = { name: "berth", version: "1.0.0" } as const

export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

export interface ToolCall {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

/** What the commands do at a server, whatever revision it speaks. */
export interface McpSession {
  readonly list: (cursor: string | undefined, signal: AbortSignal) => Promise<ListToolsResult>
  readonly call: (call: ToolCall) => Promise<CallToolResult>
  readonly close: () => Promise<void>
}

/** A server that has answered `initialize`. */
export const openedSession = (client: Client): McpSession => ({
  list: (cursor, signal) => client.listTools(cursor === undefined ? {} : { cursor }, { signal }),
  call: async ({ args, name, onProgress, signal }) => {
    const result = await client.callTool({ name, arguments: { ...args } }, CallToolResultSchema, {
      signal,
      // 30 minutes: a deployment can pull a large image, and reports its progress meanwhile.
      timeout: 1_800_000,
      resetTimeoutOnProgress: true,
      onprogress: onProgress
    })
    return CallToolResultSchema.parse(result)
  },
  close: () => client.close()
})
