import { Schema } from "effect"

/** At most so many tools of a server are kept, and so many characters of each description. */
export const mostTools = 200
export const longestDescription = 300

export const McpTransport = Schema.Literal("streamable-http", "sse")
export type McpTransport = typeof McpTransport.Type

export const McpTool = Schema.Struct({ name: Schema.String, description: Schema.String })
export type McpTool = typeof McpTool.Type

/** The result of the MCP handshake without the tools, for lists. */
export const McpSummary = Schema.Struct({
  ok: Schema.Boolean.annotations({ description: "Whether the handshake and tools/list worked" }),
  toolCount: Schema.Int.annotations({ description: "How many tools are known" }),
  transport: Schema.NullOr(McpTransport).annotations({
    description: "streamable-http: at /mcp; sse: the older transport at /sse; null when neither was found"
  }),
  revision: Schema.NullOr(Schema.String).annotations({ description: "The negotiated revision of MCP" }),
  problem: Schema.NullOr(Schema.String).annotations({
    description: "What went wrong, or what was left out, and what to do; null when there is nothing to say"
  })
}).annotations({ title: "McpSummary" })
export type McpSummary = typeof McpSummary.Type

/** The result of the MCP handshake that a deployment's machine was tried with before it served. */
export const McpReport = Schema.Struct({
  ...McpSummary.fields,
  tools: Schema.Array(McpTool).annotations({
    description: `At most ${mostTools}; descriptions on one line, cut after ${longestDescription} characters`
  })
}).annotations({ title: "McpReport" })
export type McpReport = typeof McpReport.Type
