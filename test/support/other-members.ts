import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js"
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

/** A member that is not reached by the Streamable HTTP of today's revisions. */
export interface OtherMember {
  readonly url: string
  /** Every request but those for its health, as it came: method and path. */
  readonly seen: Array<string>
  /** What it does with a call. */
  answer: () => string | Promise<string>
  /** A further tool; calls say on their way that the list changed. */
  added: string | undefined
  /** Cuts every connection in the middle of what it carries. */
  readonly cut: () => void
  readonly stop: () => void
}

const started = async (
  answerRequest: (req: IncomingMessage, res: ServerResponse) => Promise<void>
): Promise<Pick<OtherMember, "url" | "seen" | "cut" | "stop">> => {
  const seen: Array<string> = []
  const http = createServer((req, res) => {
    // Probes make the health score, without which it is no member.
    if (req.url === "/health") return void res.writeHead(200).end("{\"status\":\"ok\"}")
    seen.push(`${req.method} ${req.url}`)
    answerRequest(req, res).catch(() => res.destroy())
  })
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    seen,
    cut: () => http.closeAllConnections(),
    stop: () => {
      http.closeAllConnections()
      http.close()
    }
  }
}

const listChanged = { method: "notifications/tools/list_changed" as const }

/** One that speaks the HTTP+SSE of 2024-11-05 alone. `forget`: it knows no session any more, as their streams stay. */
export const startSseMember = async (name: string): Promise<OtherMember & { readonly forget: () => void }> => {
  const sessions = new Map<string, SSEServerTransport>()
  const http = await started(async (req, res) => {
    const { pathname, searchParams } = new URL(`http://x${req.url}`)
    if (req.method === "GET" && pathname === "/sse") {
      const transport = new SSEServerTransport("/message", res)
      sessions.set(transport.sessionId, transport)
      const server = new Server({ name, version: "1" }, { capabilities: { tools: { listChanged: true } } })
      server.setRequestHandler(ListToolsRequestSchema, () => ({
        tools: ["look", ...member.added === undefined ? [] : [member.added]].map((tool) => ({
          name: tool,
          inputSchema: { type: "object" as const, properties: { q: { type: "string" } } }
        }))
      }))
      server.setRequestHandler(CallToolRequestSchema, async () => {
        if (member.added !== undefined) await server.notification(listChanged)
        return { content: [{ type: "text", text: await member.answer() }] }
      })
      return server.connect(transport)
    }
    const session = sessions.get(searchParams.get("sessionId") ?? "")
    if (req.method === "POST" && pathname === "/message" && session !== undefined) {
      return session.handlePostMessage(req, res)
    }
    res.writeHead(404).end("no such session")
  })
  const member = {
    ...http,
    answer: (): string | Promise<string> => name,
    added: undefined as string | undefined,
    forget: () => sessions.clear()
  }
  return member
}

/** One that speaks revision 2026-07-28 alone, and answers by an event stream; `refusal`: by a JSON-RPC error. */
export const startStatelessMember = async (name: string): Promise<OtherMember & { refusal: string | undefined }> => {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name, version: "1" })
    server.registerTool("look", { description: "Looks." }, async () => ({
      content: [{ type: "text" as const, text: await member.answer() }]
    }))
    if (member.added !== undefined) {
      server.registerTool(member.added, {}, () => ({ content: [] }))
    }
    return server
  }, { legacy: "reject", responseMode: "sse" })
  const http = await started(async (req, res) => {
    const headers = Object.entries(req.headers).map(([key, value]): [string, string] => [key, String(value)])
    const body = await text(req)
    if (member.refusal !== undefined) {
      const { id } = JSON.parse(body) as { readonly id: string }
      const error = { code: -32602, message: member.refusal }
      return void res.writeHead(200, { "content-type": "application/json" }).end(
        JSON.stringify({ jsonrpc: "2.0", id, error })
      )
    }
    const answer = await handler.fetch(
      new Request(`http://x${req.url}`, { method: req.method ?? "GET", headers, ...(body === "" ? {} : { body }) })
    )
    res.writeHead(answer.status, Object.fromEntries(answer.headers))
    res.flushHeaders()
    if (member.added !== undefined && body.includes("tools/call")) {
      res.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...listChanged })}\n\n`)
    }
    for await (const chunk of answer.body ?? []) res.write(chunk)
    res.end()
  })
  const member = {
    ...http,
    answer: (): string | Promise<string> => name,
    added: undefined as string | undefined,
    refusal: undefined as string | undefined
  }
  return member
}
