import { didYouMean } from "#src/format/nearest.ts"
import { readPages } from "#src/routing/list-pages.ts"
import { type CallToolResult, type Tool } from "@modelcontextprotocol/sdk/types.js"
import { type Effect, Either } from "effect"
import { parseArguments } from "./arguments.ts"
import { type McpServerAddress, withClient } from "./client.ts"
import { McpClientError } from "./McpClientError.ts"
import { type McpSession } from "./session.ts"

/** They bound a list that never ends. */
const mostBytes = 16 * 1024 * 1024
const mostTools = 10_000

const allTools = async (client: McpSession, signal: AbortSignal): Promise<ReadonlyArray<Tool>> => {
  const tools: Array<Tool> = []
  await readPages(({ cursor }) => client.list(cursor, signal), (page) => {
    tools.push(...page.tools)
    return tools.length < mostTools
  }, mostBytes)
  return tools
}

/** All tools of the MCP server. */
export const listTools = (address: McpServerAddress): Effect.Effect<ReadonlyArray<Tool>, McpClientError> =>
  withClient(address, allTools)

export interface CallOptions extends McpServerAddress {
  readonly tool: string
  /** `name=value`, parsed by the tool's input schema; they override the fields of `arguments`. */
  readonly args: ReadonlyArray<string>
  readonly arguments?: Readonly<Record<string, unknown>>
  /** Called with the progress messages of the server. */
  readonly onProgress?: (message: string) => void
}

/** How many names of tools an error tells. */
const mostNamed = 40

/** Calls one tool. A result with `isError` succeeds here: the tool ran and reported an error. */
export const callTool = (options: CallOptions): Effect.Effect<CallToolResult, McpClientError> =>
  withClient(options, async (client, signal) => {
    const tools = await allTools(client, signal)
    const names = tools.map(({ name }) => name)
    const tool = tools.find(({ name }) => name === options.tool)
    if (tool === undefined) {
      const more = names.length > mostNamed ? `, and ${names.length - mostNamed} more: berth tools tells all` : ""
      const list = names.length === 0 ? "It has none." : `Its tools: ${names.slice(0, mostNamed).join(", ")}${more}.`
      const hint = didYouMean(options.tool, names)
      throw new McpClientError({ message: `The server has no tool "${options.tool}".${hint} ${list}` })
    }
    const args = parseArguments(tool.inputSchema, options.args, options.arguments)
    if (Either.isLeft(args)) throw new McpClientError({ message: args.left })
    return client.call({
      name: tool.name,
      args: args.right,
      signal,
      onProgress: ({ message, progress, total }) =>
        options.onProgress?.(
          `${Math.floor(progress)}${total === undefined ? "" : `/${total}`} ${message ?? ""}`.trimEnd()
        )
    })
  })
