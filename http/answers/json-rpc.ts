import { failsWith } from "#src/shared/Failure.ts"
import { ErrorCode, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect, Predicate, Schema } from "effect"

const Id = Schema.NullOr(Schema.Union(Schema.String, Schema.Int))

/** A body that is not a JSON-RPC message: 400, with the protocol's own error (JSON-RPC 2.0 §5.1). */
export class NotJsonRpc extends Schema.TaggedError<NotJsonRpc>()("NotJsonRpc", {
  code: Schema.Int,
  reason: Schema.String,
  id: Id
}, failsWith(400)) {
  override get message() {
    return this.reason
  }
  get jsonRpc() {
    return { code: this.code, id: this.id }
  }
}

/** What can't be read as JSON at all. */
export const unreadable = (reason: string) => new NotJsonRpc({ code: ErrorCode.ParseError, reason, id: null })

const isId = Schema.is(Schema.Union(Schema.String, Schema.Int))
const isMessage = (value: unknown) => JSONRPCMessageSchema.safeParse(value).success

const knownMembers = ["jsonrpc", "id", "method", "params", "result", "error"]

/** Why a value is not a message (JSON-RPC 2.0 §4, §5; MCP 2025-11-25, basic: no null id, params by name). */
const problem = (value: unknown): string => {
  if (!Predicate.isRecord(value)) return "A message must be an object"
  const unknownMember = Object.keys(value).find((name) => !knownMembers.includes(name))
  if (value["jsonrpc"] !== "2.0") return "jsonrpc must be \"2.0\""
  if ("id" in value && !isId(value["id"])) return "id must be a string or an integer"
  if (unknownMember !== undefined) return "The message has a member that JSON-RPC does not know"
  if (!("method" in value)) {
    return "result" in value || "error" in value
      ? "The response is malformed"
      : "method is required"
  }
  if (typeof value["method"] !== "string") return "method must be a string"
  if ("params" in value && !Predicate.isRecord(value["params"])) return "params must be an object"
  return "The message is malformed"
}

const idOf = (value: unknown) => Predicate.isRecord(value) && isId(value["id"]) ? value["id"] : null

/** The id of the request that a text holds; null: it is a batch or no request. */
export const rpcIdIn = (text: string): string | number | null => {
  try {
    return idOf(JSON.parse(text))
  } catch {
    return null
  }
}

const invalid = (value: unknown, reason: string) =>
  new NotJsonRpc({ code: ErrorCode.InvalidRequest, reason, id: idOf(value) })

const isRequest = (value: unknown) => Predicate.isRecord(value) && "method" in value && "id" in value

/**
 * Parses a message, or a batch of messages, which older revisions of MCP allow. Rates and quotas count HTTP requests, so
 * a batch holds one request at most.
 */
export const parseJsonRpc = (text: string): Effect.Effect<unknown, NotJsonRpc> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const reason = text.trim() === "" ? "The body is empty" : "The body is not valid JSON"
    return unreadable(reason)
  }
  if (!Array.isArray(value)) return isMessage(value) ? Effect.succeed(value) : invalid(value, problem(value))
  if (value.length === 0) return invalid(value, "A batch must not be empty")
  const invalidIndex = value.findIndex((item) => !isMessage(item))
  if (invalidIndex !== -1) {
    return invalid(value, `Message ${invalidIndex + 1} of the batch: ${problem(value[invalidIndex])}`)
  }
  return value.filter(isRequest).length <= 1
    ? Effect.succeed(value)
    : invalid(value, "A batch may hold one request: send each in an HTTP request of its own")
}
