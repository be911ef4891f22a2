import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js"
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  isLegacyRequest,
  type JSONRPCRequest,
  type Result,
  Server,
  type ServerContext
} from "@modelcontextprotocol/server"
import { anyParams, type Asked, type Extended, invalid, problemOf, type ServedMcp, takesForms } from "./served-mcp.ts"

const revision = "2026-07-28"

const jsonSchemaValidator = new AjvJsonSchemaValidator()

type Handle = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>

const lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover"] as const

/** What the SDK's types don't tell: capabilities of the client, which may be anything here. */
const canBeAsked = (envelope: object | undefined) => {
  const capabilities: unknown = envelope === undefined ? undefined : Reflect.get(envelope, CLIENT_CAPABILITIES_META_KEY)
  return typeof capabilities === "object" && capabilities !== null &&
    takesForms(Reflect.get(capabilities, "elicitation"))
}

const askedBy = (
  { mcpReq: { envelope, inputResponses, notify, requestState, signal } }: ServerContext
): Asked => ({
  signal,
  revision,
  progress: (params) => notify({ method: "notifications/progress", params }),
  rounds: {
    canBeAsked: canBeAsked(envelope),
    state: requestState<string>(),
    responses: inputResponses ?? {}
  }
})

/** The SDK's server answers invalid parameters with its schema library's raw error; here they get a sentence. */
class CheckedServer extends Server {
  protected override _wrapHandler(method: string, handler: Handle): Handle {
    const checked = super._wrapHandler(method, handler)
    return (request, context) => {
      const problem = problemOf(request)
      if (problem !== undefined) throw invalid(problem)
      return checked(request, context)
    }
  }
}

/** A server for one request of revision 2026-07-28. */
const serverOf = ({ capabilities, info, instructions, lists: hint, methods }: ServedMcp): Server => {
  const server = new CheckedServer(info, {
    capabilities,
    jsonSchemaValidator,
    ...(instructions === undefined ? {} : { instructions }),
    ...(hint === undefined ? {} : { cacheHints: Object.fromEntries(lists.map((method) => [method, hint])) })
  })
  const { extensions = {}, ...handlers } = methods
  for (const [method, handler] of Object.entries({ ...handlers, ...extensions })) {
    server.setRequestHandler(
      method,
      { params: anyParams },
      (params, context) => (handler as Extended)(params, askedBy(context))
    )
  }
  return server
}

const servers = new WeakMap<Request, ServedMcp>()

const handlerWith = (responseMode: "auto" | "sse") =>
  createMcpHandler(({ requestInfo }) => serverOf(servers.get(requestInfo!)!), { legacy: "reject", responseMode })

/** `stream`: each answer is an event stream, which is open at once and says what happens before the answer. */
const handlers = { whole: handlerWith("auto"), stream: handlerWith("sse") }

/** Whether a message is of a revision that begins with `initialize`, by what it says of itself. */
export const hasSessions = (request: Request, body: unknown): Promise<boolean> => isLegacyRequest(request, body)

/** Answers one message of revision 2026-07-28, or refuses it as that revision says. */
export const answerStateless = (
  served: ServedMcp,
  request: Request,
  body: unknown,
  kind: keyof typeof handlers
): Promise<Response> => {
  servers.set(request, served)
  return handlers[kind].fetch(request, { parsedBody: body })
}
