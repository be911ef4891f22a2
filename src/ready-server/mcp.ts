import type { ReadyConfig } from "#src/format/ReadyConfig.ts"
import { type ServedSkill, serveSkills, skillCapabilities } from "#src/format/skills-over-mcp.ts"
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js"
import { businessTools } from "./business-tools.ts"
import { catalogTools } from "./catalog-tools.ts"
import { serveCatalog } from "./catalog.ts"
import { flagTools } from "./flag-tools.ts"
import { servedSkill } from "./skill.ts"
import { brief, type Tool } from "./Tool.ts"

/** What is made of a configuration. */
interface Served {
  readonly byName: ReadonlyMap<string, Tool>
  readonly listing: { readonly tools: Array<Tool["listing"]> }
  readonly skill: ServedSkill
}

const servedOf = (config: ReadyConfig): Served => {
  const catalog = serveCatalog(config)
  const tools = [...businessTools(config), ...catalogTools(config, catalog), ...flagTools(config, catalog)]
  return {
    byName: new Map(tools.map((tool) => [tool.listing.name, tool])),
    listing: { tools: tools.map((tool) => tool.listing) },
    skill: servedSkill(config)
  }
}

/**
 * Makes one MCP server for each connection (SSE) or request (Streamable HTTP). Tools, schemas and the skill are made once
 * for each configuration; older connections use those of the current one, too.
 */
export const makeServers = (current: () => ReadyConfig): () => Server => {
  const cache = new WeakMap<ReadyConfig, Served>()
  const served = (): Served => {
    const config = current()
    const fresh = cache.get(config) ?? servedOf(config)
    cache.set(config, fresh)
    return fresh
  }
  // Without this each Server makes a validator of its own, which costs more than the rest of it.
  const jsonSchemaValidator = new AjvJsonSchemaValidator()

  return () => {
    const { category, description, name } = current().business
    const about = [name, category, description].filter((text) => text.trim() !== "").join(". ")
    const server = new Server({ name: "berth-ready-server", title: name, version: "1.0.0" }, {
      capabilities: { tools: {}, ...skillCapabilities },
      instructions: `Answers questions about one business. ${about}`,
      jsonSchemaValidator
    })
    server.setRequestHandler(ListToolsRequestSchema, () => served().listing)
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      const tool = served().byName.get(params.name)
      if (tool === undefined) {
        throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${brief(params.name)}`)
      }
      return tool.call(params.arguments)
    })
    serveSkills(server, {
      list: async () => [served().skill],
      find: async (uri) => {
        const { skill } = served()
        return skill.uri === uri ? skill.file : undefined
      },
      resources: () => [served().skill],
      templates: []
    })
    return server
  }
}
