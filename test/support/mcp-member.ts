import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import {
  CallToolRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema
} from "@modelcontextprotocol/sdk/types.js"
import { createServer, type IncomingHttpHeaders, type Server as HttpServer } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

export interface TestTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema: { readonly type: "object"; readonly [key: string]: unknown }
  readonly annotations?: Readonly<Record<string, boolean>>
  readonly _meta?: Readonly<Record<string, unknown>>
}

export interface SeenRequest {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface TestMember {
  readonly url: string
  /** Every request, as it came. */
  readonly seen: Array<SeenRequest>
  readonly http: HttpServer
  /** What it does with a call. */
  answer: (name: string, args: Readonly<Record<string, unknown>>) => unknown
  tools: ReadonlyArray<TestTool>
  /** The code and the message of the JSON-RPC error by which it rejects prompts and resources, where it does. */
  rejects: readonly [number, string] | undefined
  /** URI templates. */
  templates: ReadonlyArray<string>
  /** Forgets the sessions, as a restarted server does. */
  readonly forget: () => void
  readonly stop: () => void
}

/** A server with sessions, prompts and resources, which keeps what it receives. */
export const startMember = async (name: string, tools: ReadonlyArray<TestTool>): Promise<TestMember> => {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const seen: Array<SeenRequest> = []
  const make = () => {
    const server = new Server({ name, version: "1" }, {
      capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} }
    })
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: member.tools.map((tool) => ({ ...tool })) }))
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => {
      const value = await member.answer(params.name, params.arguments ?? {})
      // On the session's own stream, and on that of the call.
      if (params.name === "change") await server.sendToolListChanged()
      if (params.name === "renew") await sendNotification({ method: "notifications/tools/list_changed" })
      return typeof value === "object" && value !== null
        ? { content: [], structuredContent: { value } }
        : { content: [{ type: "text", text: String(value) }] }
    })
    server.setRequestHandler(
      ListPromptsRequestSchema,
      () => ({ prompts: [{ name: "greet", description: `By ${name}` }] })
    )
    const orReject = <A>(result: A): A => {
      if (member.rejects !== undefined) throw new McpError(...member.rejects)
      return result
    }
    server.setRequestHandler(GetPromptRequestSchema, () =>
      orReject({
        messages: [{ role: "user" as const, content: { type: "text" as const, text: `Greet ${name}` } }]
      }))
    server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri: "menu://today", name: "Menu" }] }))
    server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
      resourceTemplates: member.templates.map((uriTemplate) => ({ uriTemplate, name: "Menus" }))
    }))
    server.setRequestHandler(
      ReadResourceRequestSchema,
      ({ params }) => orReject({ contents: [{ uri: params.uri, text: `Menu of ${name}` }] })
    )
    return server
  }
  const http = createServer((req, res) => {
    void (async () => {
      const body = await text(req)
      seen.push({ url: req.url ?? "", headers: req.headers, body })
      // Probes make the health score, without which it is no member.
      if (req.url === "/health") return void res.writeHead(200).end("{\"status\":\"ok\"}")
      const id = req.headers["mcp-session-id"]
      let transport = typeof id === "string" ? sessions.get(id) : undefined
      if (typeof id === "string" && transport === undefined) return void res.writeHead(404).end("{}")
      if (transport === undefined) {
        const fresh = new WebStandardStreamableHTTPServerTransport({
          sessionIdGenerator: () => crypto.randomUUID(),
          onsessioninitialized: (sessionId) => void sessions.set(sessionId, fresh)
        })
        await make().connect(fresh)
        transport = fresh
      }
      const headers = Object.entries(req.headers).map(([key, value]): [string, string] => [key, String(value)])
      const answer = await transport.handleRequest(
        new Request(`http://x${req.url}`, {
          method: req.method ?? "GET",
          headers,
          ...(body === "" ? {} : { body })
        })
      )
      res.writeHead(answer.status, Object.fromEntries(answer.headers))
      for await (const chunk of answer.body ?? []) res.write(chunk)
      res.end()
    })().catch(() => res.destroy())
  })
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
  const member: TestMember = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    seen,
    http,
    tools,
    templates: ["menus://{day}", `${name}://{+path}`],
    rejects: undefined,
    answer: (tool) => `${name}: ${tool}`,
    forget: () => sessions.clear(),
    stop: () => {
      http.closeAllConnections()
      http.close()
    }
  }
  return member
}
