import { platformSkills } from "#src/hub/platform-skills.ts"
import { type Server } from "@modelcontextprotocol/sdk/server/index.js"
import {
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  McpError
} from "@modelcontextprotocol/sdk/types.js"

const prompts = [{
  name: "deploy_server",
  title: "Deploy an MCP server",
  description: "Walks through hosting an OCI image as an MCP server",
  arguments: [{
    name: "imageUri",
    description: "The OCI image to deploy, or a package: npm:@scope/name@1.2.3, pypi:name==1.2.3",
    required: true
  }]
}]

/** Offers the prompts that start from the platform's own skills. */
export const servePrompts = (server: Server) => {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const image = params.arguments?.["imageUri"]
    if (params.name !== "deploy_server") {
      throw new McpError(ErrorCode.InvalidParams, `There is no prompt ${params.name}`)
    }
    if (image === undefined) throw new McpError(ErrorCode.InvalidParams, "The argument imageUri is required")
    const guide = platformSkills.find(({ frontmatter }) => frontmatter.name === "deploy-mcp-server")?.text ?? ""
    const text = `Host the image ${image} as an MCP server on Berth, following this guide.\n\n${guide}`
    return { messages: [{ role: "user" as const, content: { type: "text" as const, text } }] }
  })
}
