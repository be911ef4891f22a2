import { readPages } from "#src/routing/list-pages.ts"
import { type McpToolDefinition } from "#src/servers/McpFeatures.ts"
import { lineOf } from "#src/shared/outside-text.ts"
import { ToolSchema } from "@modelcontextprotocol/sdk/types.js"
import { longestDescription, type McpTool, mostTools } from "../McpReport.ts"
import { definitionOf } from "./definitions.ts"
import { HandshakeFailed, isMethodUnknown } from "./failure.ts"
import { type Fields, isFields } from "./rpc.ts"
import { type Session } from "./sessions.ts"

interface RefusedField {
  readonly tool: string
  /** `inputSchema.type` */
  readonly field: string
}

export interface ToolList {
  readonly tools: ReadonlyArray<McpTool>
  /** Of the tools that clients could call. */
  readonly definitions: ReadonlyArray<McpToolDefinition>
  /** Entries without a usable name, and second ones of a name. */
  readonly unusable: number
  /** The first field for which clients of the official SDK refuse the list as a whole. */
  readonly refused: RefusedField | undefined
  /** There are more, or the pages don't end. */
  readonly isCut: boolean
}

const longestName = 128
/** Of all pages together. */
const mostBytes = 4 * 1024 * 1024

/** MCP (2025-11-25, Tools): 1 to 128 characters. One that nobody sees would show as another name than is called. */
const isName = (name: unknown): name is string =>
  typeof name === "string" && name.length > 0 && name.length <= longestName && lineOf(name, longestName) === name

/** Cut before it is cleaned: a description may be megabytes long. */
const describe = (value: unknown) =>
  typeof value === "string" ? lineOf(value.slice(0, longestDescription * 10), longestDescription) : ""

const refusedIn = (tool: string, fields: Fields): RefusedField | undefined => {
  const { error } = ToolSchema.safeParse(fields)
  return error && { tool, field: lineOf(error.issues[0]?.path.join(".") ?? "", 100) }
}

/** A server without tools does not know `tools/list`. */
const withoutTools = (error: unknown) => isMethodUnknown(error) ? { tools: [] } : Promise.reject(error)

/** Every tool of a session, within bounds: of a name, of a description, of the list, and of its bytes. */
export const listTools = async ({ call, transport }: Session): Promise<ToolList> => {
  const found = new Map<string, McpTool>()
  const definitions: Array<McpToolDefinition> = []
  let unusable = 0
  let refused: RefusedField | undefined
  const take = (result: unknown) => {
    const listed = isFields(result) ? result["tools"] : undefined
    if (!Array.isArray(listed)) {
      const path = transport === "sse" ? "/sse" : "/mcp"
      throw new HandshakeFailed({
        path,
        method: "tools/list",
        cause: { _tag: "NotMcp", what: "without a list of tools" }
      })
    }
    for (const tool of listed as ReadonlyArray<unknown>) {
      const fields = isFields(tool) ? tool : {}
      const { description, name, title } = fields
      if (!isName(name) || found.has(name)) unusable++
      else if (found.size === mostTools) return false
      else {
        refused ??= refusedIn(name, fields)
        found.set(name, { name, description: describe(description ?? title) })
        definitions.push(...[definitionOf(name, fields)].filter((one) => one !== undefined))
      }
    }
    return true
  }
  const isWhole = await readPages((params) => call("tools/list", params).catch(withoutTools), take, mostBytes)
  return { tools: [...found.values()], definitions, unusable, refused, isCut: !isWhole }
}
