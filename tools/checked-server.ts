import { Server, type ServerOptions } from "@modelcontextprotocol/sdk/server/index.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  type Implementation,
  InitializeRequestSchema,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  PingRequestSchema,
  ReadResourceRequestSchema
} from "@modelcontextprotocol/sdk/types.js"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js"

const schemas = [
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  InitializeRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  PingRequestSchema,
  ReadResourceRequestSchema
]
const byMethod = new Map(schemas.map((schema) => [schema.shape.method.value as string, schema]))

const expectedTypes: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "true or false",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a string"
}

const valueAt = (value: unknown, path: ReadonlyArray<PropertyKey>) =>
  path.reduce<unknown>((at, key) => at === undefined || at === null ? undefined : Reflect.get(Object(at), key), value)

/** Why a request's parameters are invalid, in a sentence; undefined when they are valid. */
const problemOf = (request: JSONRPCRequest): string | undefined => {
  const result = byMethod.get(request.method)?.safeParse(request)
  if (result === undefined || result.success) return undefined
  const [issue] = result.error.issues
  const path = issue?.path ?? []
  const name = path.map(String).join(".").slice(0, 200).toWellFormed() || "params"
  if (valueAt(request, path) === undefined) return `${name} is required`
  const type = issue !== undefined && "expected" in issue ? expectedTypes[String(issue.expected)] : undefined
  return type === undefined ? `${name} is not valid` : `${name} must be ${type}`
}

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
export class CheckedServer extends Server {
  constructor(info: Implementation, options: ServerOptions) {
    super(info, { jsonSchemaValidator, ...options })
  }

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
