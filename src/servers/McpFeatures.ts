import { Schema } from "effect"

const Fields = Schema.Record({ key: Schema.String, value: Schema.Unknown })
const optionalText = Schema.optionalWith(Schema.String, { exact: true })

/** A tool with all that a client needs to call it (MCP 2025-11-25, Tools). Its words and schemas are the server's. */
export const McpToolDefinition = Schema.Struct({
  name: Schema.String,
  title: optionalText,
  description: Schema.String,
  inputSchema: Fields,
  outputSchema: Schema.optionalWith(Fields, { exact: true }),
  annotations: Schema.optionalWith(Fields, { exact: true }),
  /** What hosts and extensions of the protocol read (MCP 2025-11-25, `_meta`). */
  _meta: Schema.optionalWith(Fields, { exact: true })
})
export type McpToolDefinition = typeof McpToolDefinition.Type

export const McpPrompt = Schema.Struct({
  name: Schema.String,
  title: optionalText,
  description: Schema.String,
  arguments: Schema.Array(Schema.Struct({
    name: Schema.String,
    description: optionalText,
    required: Schema.optionalWith(Schema.Boolean, { exact: true })
  }))
})
export type McpPrompt = typeof McpPrompt.Type

const described = {
  name: Schema.String,
  title: optionalText,
  description: Schema.String,
  mimeType: optionalText
}

export const McpResource = Schema.Struct({
  uri: Schema.String,
  ...described,
  _meta: Schema.optionalWith(Fields, { exact: true })
})
export type McpResource = typeof McpResource.Type

/** Resources by a URI template (RFC 6570). */
export const McpResourceTemplate = Schema.Struct({ uriTemplate: Schema.String, ...described })
export type McpResourceTemplate = typeof McpResourceTemplate.Type

/** What a server offers over MCP, as it was stored when it was deployed (docs/decisions/mcp-handshake.md). */
export const McpFeatures = Schema.Struct({
  tools: Schema.Array(McpToolDefinition),
  prompts: Schema.Array(McpPrompt),
  resources: Schema.Array(McpResource),
  /** Older deployments have not told them. */
  templates: Schema.optionalWith(Schema.Array(McpResourceTemplate), { exact: true, default: () => [] })
})
export type McpFeatures = typeof McpFeatures.Type

export const noFeatures: McpFeatures = { tools: [], prompts: [], resources: [], templates: [] }
