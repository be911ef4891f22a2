import type { ReadyConfig } from "#src/businesses/ReadyConfig.ts"
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js"
import { businessTools } from "./business-tools.ts"
import { catalogTools } from "./catalog-tools.ts"
import { brief } from "./Tool.ts"

/** Makes one MCP server a connection (SSE) or request (Streamable HTTP); tools and schemas are built once. */
export const makeServers = (config: ReadyConfig): () => Server => {
  const tools = new Map([...businessTools(config), ...catalogTools(config)].map((tool) => [tool.listing.name, tool]))
  const listing = { tools: [...tools.values()].map((tool) => tool.listing) }
  // A Server makes a validator of its own when it is given none, which costs more than the rest of it.
  const jsonSchemaValidator = new AjvJsonSchemaValidator()
  const { category, description, name } = config.business
  const about = [name, category, description].filter((text) => text.trim() !== "").join(". ")

  return () => {
    const server = new Server({ name: "berth-ready-server", title: name, version: "1.0.0" }, {
      capabilities: { tools: {} },
      instructions: `Answers questions about one business. ${about}`,
      jsonSchemaValidator
    })
    server.setRequestHandler(ListToolsRequestSchema, () => listing)
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      const tool = tools.get(params.name)
      if (tool === undefined) {
        throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${brief(params.name)}`)
      }
      return tool.call(params.arguments)
    })
    return server
  }
}
