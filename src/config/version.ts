import manifest from "../../package.json" with { type: "json" }

/** The program's version, as `/v1/health`, the OpenAPI document and the MCP servers tell it. */
export const { version } = manifest
