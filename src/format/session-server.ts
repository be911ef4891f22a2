import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import {
  ElicitResultSchema,
  ErrorCode,
  isJSONRPCRequest,
  type JSONRPCMessage
} from "@modelcontextprotocol/sdk/types.js"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js"
import { z } from "zod"
import {
  anyParams,
  type Asked,
  type Extended,
  problemOf,
  type Question,
  type ServedMcp,
  takesForms
} from "./served-mcp.ts"

/** A server without tasks ignores a request for one (MCP 2025-11-25, tasks, capabilities). */
const withoutTask = (message: JSONRPCMessage): JSONRPCMessage => {
  if (!isJSONRPCRequest(message) || message.params?.["task"] === undefined) return message
  const { task: _, ...params } = message.params
  return { ...message, params }
}

// Each server would make one of its own, which costs more than a small request; nothing is validated with it.
const jsonSchemaValidator = new AjvJsonSchemaValidator()

/**
 * The SDK's server answers invalid parameters with -32603 and its schema library's raw error; here they get -32602 and
 * a sentence, before the message reaches the server.
 */
class CheckedServer extends Server {
  override async connect(transport: Transport) {
    await super.connect(transport)
    const receive = transport.onmessage
    transport.onmessage = (message, extra) => {
      const problem = isJSONRPCRequest(message) ? problemOf(message) : undefined
      if (problem === undefined || !isJSONRPCRequest(message)) return receive?.(withoutTask(message), extra)
      const error = { code: ErrorCode.InvalidParams, message: problem }
      transport.send({ jsonrpc: "2.0", id: message.id, error }).catch((reason: unknown) => {
        this.onerror?.(reason instanceof Error ? reason : new Error(String(reason)))
      })
    }
  }
}

/** Of a method's request, checked already; the schema of a call would drop an argument `__proto__`, which is to be refused. */
const schemaFor = (method: string) => z.object({ method: z.literal(method), params: anyParams.optional() })

// A schema is compiled when it is first parsed with: a server for each request must not have its own.
const schemas = new Map<string, ReturnType<typeof schemaFor>>()

const schemaOf = (method: string) => {
  const kept = schemas.get(method) ?? schemaFor(method)
  schemas.set(method, kept)
  return kept
}

/** A person reads the question. */
const longestQuestionMillis = 300_000

export interface SessionOptions {
  /** Of a transport whose requests come without what `initialize` said. */
  readonly takesForms?: boolean
  readonly left?: AbortSignal
}

/** A server for clients that begin with `initialize`, up to revision 2025-11-25. */
export const sessionServer = (
  { capabilities, info, instructions, methods }: ServedMcp,
  options: SessionOptions = {}
): Server => {
  const server = new CheckedServer(info, {
    capabilities,
    jsonSchemaValidator,
    ...(instructions === undefined ? {} : { instructions })
  })
  const { extensions = {}, ...handlers } = methods
  const serve = (schema: z.ZodObject<{ method: z.ZodLiteral<string> }>, handler: Extended) =>
    server.setRequestHandler(schema, (request, { requestId, requestInfo, sendRequest, signal }) => {
      const revision = requestInfo?.headers["mcp-protocol-version"]
      const elicit = (params: Question, given: AbortSignal) =>
        sendRequest({ method: "elicitation/create", params: { ...params } as never }, ElicitResultSchema, {
          signal: AbortSignal.any([signal, given]),
          timeout: longestQuestionMillis
        })
      const canBeAsked = options.takesForms === true || takesForms(server.getClientCapabilities()?.elicitation)
      const asked: Asked = {
        signal,
        revision: typeof revision === "string" ? revision : undefined,
        // The request's own sender is silent once it is canceled, when there may be a last word.
        progress: (params) =>
          server.notification({ method: "notifications/progress", params }, { relatedRequestId: requestId }),
        left: options.left,
        ...(canBeAsked ? { elicit } : {})
      }
      return handler("params" in request ? request.params as Parameters<Extended>[0] ?? {} : {}, asked)
    })
  for (const [method, handler] of Object.entries({ ...handlers, ...extensions })) {
    serve(schemaOf(method), handler as Extended)
  }
  return server
}
