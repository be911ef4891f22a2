import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import {
  CallToolRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  InitializeRequestSchema,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  PingRequestSchema,
  ReadResourceRequestSchema
} from "@modelcontextprotocol/sdk/types.js"

const schemas = [
  CallToolRequestSchema,
  GetPromptRequestSchema,
  InitializeRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  PingRequestSchema,
  ReadResourceRequestSchema
]
const byMethod = new Map(schemas.map((schema) => [schema.shape.method.value as string, schema]))

const wanted: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "true or false",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a string"
}

const valueAt = (value: unknown, path: ReadonlyArray<PropertyKey>) =>
  path.reduce<unknown>((at, key) => at === undefined || at === null ? undefined : Reflect.get(Object(at), key), value)

/** What is wrong with a request's parameters, in a sentence; undefined when they are as its method has them. */
const faultOf = (request: JSONRPCRequest): string | undefined => {
  const result = byMethod.get(request.method)?.safeParse(request)
  if (result === undefined || result.success) return undefined
  const [issue] = result.error.issues
  const path = issue?.path ?? []
  const name = path.map(String).join(".").slice(0, 200).toWellFormed() || "params"
  if (valueAt(request, path) === undefined) return `${name} is required`
  const type = issue !== undefined && "expected" in issue ? wanted[String(issue.expected)] : undefined
  return type === undefined ? `${name} is not valid` : `${name} must be ${type}`
}

/** Who has no tasks takes a request as if it did not ask for one (MCP 2025-11-25, tasks, capabilities). */
const withoutTask = (message: JSONRPCMessage): JSONRPCMessage => {
  if (!isJSONRPCRequest(message) || message.params?.["task"] === undefined) return message
  const { task: _, ...params } = message.params
  return { ...message, params }
}

/**
 * The SDK's server answers parameters that do not fit with -32603 and what its schema library says of itself; here they
 * are -32602 and a sentence, before the server hears of them.
 */
export class CheckedServer extends Server {
  override async connect(transport: Transport) {
    await super.connect(transport)
    const hear = transport.onmessage
    transport.onmessage = (message, extra) => {
      const fault = isJSONRPCRequest(message) ? faultOf(message) : undefined
      if (fault === undefined || !isJSONRPCRequest(message)) return hear?.(withoutTask(message), extra)
      const error = { code: ErrorCode.InvalidParams, message: fault }
      transport.send({ jsonrpc: "2.0", id: message.id, error }).catch((reason: unknown) => {
        this.onerror?.(reason instanceof Error ? reason : new Error(String(reason)))
      })
    }
  }
}
