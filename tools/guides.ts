import { type Server } from "@modelcontextprotocol/sdk/server/index.js"
import {
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  McpError,
  ReadResourceRequestSchema
} from "@modelcontextprotocol/sdk/types.js"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"

/** `skills/` is a sibling of this folder, and of `dist/`, which contains the bundle. */
const folder = fileURLToPath(new URL("../skills", import.meta.url))

const frontmatterOf = (text: string): { readonly description?: string } => {
  const yaml = /^---\n([\s\S]*?)\n---\n/.exec(text)?.[1]
  return yaml === undefined ? {} : parse(yaml)
}

const guides = readdirSync(folder).sort().map((name) => {
  const text = readFileSync(`${folder}/${name}/SKILL.md`, "utf8")
  return { uri: `skill://berth/${name}`, name, description: frontmatterOf(text).description ?? name, text }
})

const prompts = [{
  name: "deploy_server",
  title: "Deploy an MCP server",
  description: "Walks through hosting an OCI image as an MCP server",
  arguments: [{ name: "imageUri", description: "The OCI image to deploy", required: true }]
}]

const mimeType = "text/markdown"

/** Offers the files of `skills/` as resources, and the prompts that start from them. */
export const serveGuides = (server: Server) => {
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: guides.map(({ description, name, uri }) => ({ uri, name, description, mimeType }))
  }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => {
    const guide = guides.find(({ uri }) => uri === params.uri)
    // MCP 2025-11-25, resources, error handling: -32002 is "resource not found".
    if (guide === undefined) throw new McpError(-32002, `There is no resource ${params.uri}`)
    return { contents: [{ uri: guide.uri, mimeType, text: guide.text }] }
  })
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const image = params.arguments?.["imageUri"]
    if (params.name !== "deploy_server") {
      throw new McpError(ErrorCode.InvalidParams, `There is no prompt ${params.name}`)
    }
    if (image === undefined) throw new McpError(ErrorCode.InvalidParams, "The argument imageUri is required")
    const text = `Host the image ${image} as an MCP server on Berth, following this guide.\n\n${guides[0]?.text ?? ""}`
    return { messages: [{ role: "user" as const, content: { type: "text" as const, text } }] }
  })
}
