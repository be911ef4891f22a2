import manifest from "../../package.json" with { type: "json" }

/** The program's version, shown by `/v1/health`, the OpenAPI document and the MCP servers. */
export const { version } = manifest
