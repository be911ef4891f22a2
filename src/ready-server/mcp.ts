import type { ReadyConfig } from "#src/format/ReadyConfig.ts"
import { invalid, type Methods, type ServedMcp } from "#src/format/served-mcp.ts"
import { type ServedSkill, skillCapabilities, skillMethods } from "#src/format/skills-over-mcp.ts"
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
 * The business as an MCP server, for each connection (SSE) or request (Streamable HTTP). Tools, schemas and the skill are
 * made once for each configuration; older connections use those of the current one, too.
 */
export const makeServers = (current: () => ReadyConfig): () => ServedMcp => {
  const cache = new WeakMap<ReadyConfig, Served>()
  const served = (): Served => {
    const config = current()
    const fresh = cache.get(config) ?? servedOf(config)
    cache.set(config, fresh)
    return fresh
  }
  const methods: Methods = {
    "tools/list": () => served().listing,
    "tools/call": ({ arguments: args, name }) => {
      const tool = served().byName.get(name)
      if (tool === undefined) throw invalid(`Unknown tool: ${brief(name)}`)
      return tool.call(args)
    },
    ...skillMethods({
      list: async () => [served().skill],
      find: async (uri) => {
        const { skill } = served()
        return skill.uri === uri ? skill.file : undefined
      },
      resources: () => [served().skill],
      templates: []
    })
  }

  return () => {
    const { category, description, name } = current().business
    const about = [name, category, description].filter((text) => text.trim() !== "").join(". ")
    return {
      info: { name: "berth-ready-server", title: name, version: "1.0.0" },
      capabilities: { tools: {}, ...skillCapabilities },
      instructions: `Answers questions about one business. ${about}`,
      methods,
      lists: { ttlMs: 60_000, cacheScope: "public" }
    }
  }
}
