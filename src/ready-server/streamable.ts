import { type ServedMcp } from "#src/format/served-mcp.ts"
import { sessionServer } from "#src/format/session-server.ts"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import { type IncomingHttpHeaders } from "node:http"

const claim = "io.modelcontextprotocol/protocolVersion"

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const claims = (message: unknown) => {
  const params = isRecord(message) ? message["params"] : undefined
  const meta = isRecord(params) ? params["_meta"] : undefined
  return isRecord(meta) && claim in meta
}

/** Whether a message may be of a revision without `initialize`. Revisions are dates, which sort as strings. */
const mayBeStateless = (request: Request, body: unknown) =>
  (request.headers.get("mcp-protocol-version") ?? "") >= "2026" || (Array.isArray(body) ? body : [body]).some(claims)

const inSession = async (served: ServedMcp, request: Request, parsedBody: unknown) => {
  const server = sessionServer(served)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  const answer = await transport.handleRequest(request, { parsedBody })
  return { answer, end: () => server.close() }
}

const answered = async (served: ServedMcp, request: Request, body: unknown) => {
  if (!mayBeStateless(request, body)) return inSession(served, request, body)
  // Its library is run when it is first needed: a start takes as long as before, and most clients never need it.
  const { answerStateless, hasSessions } = await import("#src/format/stateless-mcp.ts")
  return await hasSessions(request, body)
    ? inSession(served, request, body)
    : { answer: await answerStateless(served, request, body, "whole"), end: () => undefined }
}

export interface WholeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Answers one message of Streamable HTTP, in the era that it says it is of. */
export const answerTo = async (
  served: ServedMcp,
  sent: IncomingHttpHeaders,
  value: unknown,
  signal: AbortSignal
): Promise<WholeAnswer> => {
  const headers = Object.entries(sent).flatMap(([name, value]): Array<[string, string]> =>
    typeof value === "string" ? [[name, value]] : []
  )
  const request = new Request("http://localhost/mcp", { method: "POST", headers, signal })
  const { answer, end } = await answered(served, request, value)
  const body = Buffer.from(await answer.arrayBuffer())
  await end()
  // Node decides with the client whether the connection stays open.
  answer.headers.delete("connection")
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body }
}
