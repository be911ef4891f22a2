import type { ReadyConfig } from "#src/format/ReadyConfig.ts"
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js"
import { businessTools } from "./business-tools.ts"
import { catalogTools } from "./catalog-tools.ts"
import { serveCatalog } from "./catalog.ts"
import { flagTools } from "./flag-tools.ts"
import { brief, type Tool } from "./Tool.ts"

interface Tools {
  readonly byName: ReadonlyMap<string, Tool>
  readonly listing: { readonly tools: Array<Tool["listing"]> }
}

const toolsOf = (config: ReadyConfig): Tools => {
  const catalog = serveCatalog(config)
  const tools = [...businessTools(config), ...catalogTools(config, catalog), ...flagTools(config, catalog)]
  return {
    byName: new Map(tools.map((tool) => [tool.listing.name, tool])),
    listing: { tools: tools.map((tool) => tool.listing) }
  }
}

/**
 * Makes one MCP server for each connection (SSE) or request (Streamable HTTP). Tools and schemas are built once for
 * each configuration; older connections use those of the current one, too.
 */
export const makeServers = (current: () => ReadyConfig): () => Server => {
  const cache = new WeakMap<ReadyConfig, Tools>()
  const tools = (): Tools => {
    const config = current()
    const currentTools = cache.get(config) ?? toolsOf(config)
    cache.set(config, currentTools)
    return currentTools
  }
  // Without this each Server makes a validator of its own, which costs more than the rest of it.
  const jsonSchemaValidator = new AjvJsonSchemaValidator()

  return () => {
    const { category, description, name } = current().business
    const about = [name, category, description].filter((text) => text.trim() !== "").join(". ")
    const server = new Server({ name: "berth-ready-server", title: name, version: "1.0.0" }, {
      capabilities: { tools: {} },
      instructions: `Answers questions about one business. ${about}`,
      jsonSchemaValidator
    })
    server.setRequestHandler(ListToolsRequestSchema, () => tools().listing)
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      const tool = tools().byName.get(params.name)
      if (tool === undefined) {
        throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${brief(params.name)}`)
      }
      return tool.call(params.arguments)
    })
    return server
  }
}
