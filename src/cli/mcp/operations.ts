import type { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { type CallToolResult, CallToolResultSchema, type Tool } from "@modelcontextprotocol/sdk/types.js"
import { type Effect, Either } from "effect"
import { parseArguments } from "./arguments.ts"
import { type McpServerAddress, withClient } from "./client.ts"
import { McpClientError } from "./failure.ts"
import { didYouMean } from "./nearest.ts"

/** A server may page its list; one that never ends is cut off. */
const maxPages = 100

const allTools = async (client: Client, signal: AbortSignal): Promise<ReadonlyArray<Tool>> => {
  const tools: Array<Tool> = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const result = await client.listTools(cursor === undefined ? {} : { cursor }, { signal })
    tools.push(...result.tools)
    cursor = result.nextCursor
    if (cursor === undefined) break
  }
  return tools
}

/** Every tool of the MCP server, as it describes them. */
export const listTools = (address: McpServerAddress): Effect.Effect<ReadonlyArray<Tool>, McpClientError> =>
  withClient(address, allTools)

export interface CallOptions extends McpServerAddress {
  readonly tool: string
  /** `name=value`, read by the tool's input schema; they win over the fields of `arguments`. */
  readonly args: ReadonlyArray<string>
  readonly arguments?: Readonly<Record<string, unknown>>
  /** Told what a long call is doing, as the server reports it. */
  readonly onProgress?: (message: string) => void
}

/** Calls one tool. A result with `isError` is a result: the tool ran and refused. */
export const callTool = (options: CallOptions): Effect.Effect<CallToolResult, McpClientError> =>
  withClient(options, async (client, signal) => {
    const tools = await allTools(client, signal)
    const names = tools.map(({ name }) => name)
    const tool = tools.find(({ name }) => name === options.tool)
    if (tool === undefined) {
      const known = names.length === 0 ? "It has none." : `Its tools: ${names.slice(0, 40).join(", ")}.`
      const hint = didYouMean(options.tool, names)
      throw new McpClientError({ message: `The server has no tool "${options.tool}".${hint} ${known}` })
    }
    const args = parseArguments(tool.inputSchema, options.args, options.arguments)
    if (Either.isLeft(args)) throw new McpClientError({ message: args.left })
    const result = await client.callTool({ name: tool.name, arguments: args.right }, CallToolResultSchema, {
      signal,
      // A deployment can pull a large image; what it is doing is told meanwhile.
      timeout: 1_800_000,
      resetTimeoutOnProgress: true,
      onprogress: ({ message, progress, total }) =>
        options.onProgress?.(`${progress}${total === undefined ? "" : `/${total}`} ${message ?? ""}`.trimEnd())
    })
    return CallToolResultSchema.parse(result)
  })
