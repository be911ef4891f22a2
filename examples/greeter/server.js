#!/usr/bin/env node
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { z } from "zod"

const server = new McpServer({ name: "greeter", version: "1.0.0" })

server.registerTool(
  "greet",
  { description: "Greets somebody by name", inputSchema: { name: z.string() } },
  ({ name }) => ({ content: [{ type: "text", text: `Hello, ${name}!` }] })
)

await server.connect(new StdioServerTransport())
