import { allowedTypes } from "#http/answers/accept.ts"
import { type ServedMcp } from "#src/format/served-mcp.ts"
import { sessionServer } from "#src/format/session-server.ts"
import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect } from "effect"
import { ConversingTransport, newSessionId, startsForms, takesFormsBy, takeWord } from "./conversing.ts"
import { streamed } from "./sent-soon.ts"

export const urlOf = (request: HttpServerRequest.HttpServerRequest) => new URL(request.url, "http://localhost")

/** Stateless: there is no stream to open and no session to end (MCP 2025-11-25, transports). */
export const notAllowed = HttpServerResponse.empty({ status: 405, headers: { allow: "POST, OPTIONS" } })

const transportOptions = { whole: { enableJsonResponse: true }, stream: {} } as const

type Kind = keyof typeof transportOptions

/** `caller`: whose words beside its calls are heard; nobody's where nothing is asked and nothing takes long. */
const inSession = async (
  served: ServedMcp,
  request: Request,
  parsedBody: unknown,
  kind: Kind,
  caller: string | undefined,
  whenGone: (then: () => void) => void
) => {
  const sessionId = request.headers.get("mcp-session-id") ?? ""
  const speaker = caller === undefined ? undefined : JSON.stringify([caller, sessionId])
  if (speaker !== undefined) takeWord(speaker, parsedBody)
  const transport = new ConversingTransport(transportOptions[kind], speaker, parsedBody)
  if (caller !== undefined) whenGone(() => transport.leave())
  const takesForms = caller !== undefined && takesFormsBy(sessionId)
  await sessionServer(served, { takesForms, left: transport.left }).connect(transport)
  const answer = await transport.handleRequest(request, { parsedBody })
  if (caller !== undefined && answer.ok && startsForms(parsedBody)) answer.headers.set("mcp-session-id", newSessionId())
  return answer
}

const isStream = (answer: Response): answer is Response & { readonly body: NonNullable<Response["body"]> } =>
  answer.body !== null && answer.headers.get("content-type")?.startsWith("text/event-stream") === true

/** With the SDK of that revision, which the first request of an agent loads and not the start. */
const eras = Effect.runSync(Effect.cached(Effect.promise(() => import("#src/format/stateless-mcp.ts"))))

/** By what the request says of itself, in the era of `initialize` or in that of revision 2026-07-28. */
const answerBy = (kind: Kind) => (request: HttpServerRequest.HttpServerRequest, served: ServedMcp, caller?: string) =>
  Effect.gen(function*() {
    const body = yield* request.json
    const { answerStateless, hasSessions } = yield* eras
    const headers = { ...request.headers, accept: allowedTypes(request.headers) }
    const whenGone = (then: () => void) => void NodeHttpServerRequest.toServerResponse(request).once("close", then)
    const answer = yield* Effect.promise(async (signal) => {
      const copy = new Request(urlOf(request), { method: "POST", headers, signal })
      return await hasSessions(copy, body)
        ? inSession(served, copy, body, kind, caller, whenGone)
        : answerStateless(served, copy, body, kind)
    })
    // Node decides with the client whether the connection stays open.
    answer.headers.delete("connection")
    if (kind === "stream" && isStream(answer)) return yield* streamed(answer)
    if (answer.body === null) return HttpServerResponse.fromWeb(answer)
    const text = yield* Effect.promise(() => answer.text())
    return HttpServerResponse.text(text, { status: answer.status, headers: Object.fromEntries(answer.headers) })
  })

/** Answers one POST of Streamable HTTP with a server that is made for it, by an event stream. */
export const answerMessage = answerBy("stream")

/** The same as one JSON document, for servers that say nothing before they answer. */
export const answerWhole = answerBy("whole")
