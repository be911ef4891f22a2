import { BodyOverLimit } from "#src/machines/machine-fetch.ts"
import { AnswerTooLarge } from "#src/routing/answer-bounds.ts"
import { TooManyEvents } from "#src/routing/calm-events.ts"
import { lineOf } from "#src/shared/outside-text.ts"
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { McpError } from "@modelcontextprotocol/sdk/types.js"
import { Predicate } from "effect"
import { callersCode, type MemberCode, type RpcCode } from "./member-code.ts"
import { NoHandshake } from "./member-session.ts"

/** Why a member gave no result, in a sentence without its full stop. `isBroken`: it counts against the member. */
export interface MemberFailure {
  readonly code: MemberCode
  readonly message: string
  readonly isBroken: boolean
  /** Of its JSON-RPC error, where that says that the caller is wrong. */
  readonly rpcCode?: RpcCode | undefined
}

const longest = 300
/** Our gateway's envelopes are far shorter. */
const longestEnvelope = 64 * 1024

/** The message of our gateway's envelope, or undefined. */
const envelopeIn = (text: string): string | undefined => {
  if (text.length > longestEnvelope) return undefined
  const json = text.slice(Math.max(0, text.indexOf("{")))
  try {
    const body: unknown = JSON.parse(json)
    const error = Predicate.isRecord(body) ? body["error"] : undefined
    return Predicate.isRecord(error) && typeof error["message"] === "string" ? error["message"] : undefined
  } catch {
    return undefined
  }
}

const statusOf = (error: Error): number | undefined => {
  if (error instanceof StreamableHTTPError) return error.code
  const status = /\(HTTP (\d{3})\)|\b(?:with|code|status:?) (\d{3})\b/.exec(error.message)
  return status === null ? undefined : Number(status[1] ?? status[2])
}

/** The SDK's validators throw lists of issues, which say nothing to a caller; JSON.parse throws a SyntaxError. */
const isInvalidAnswer = (error: Error) =>
  error.name === "ZodError" || error instanceof SyntaxError ||
  // "Unexpected content type".
  error instanceof StreamableHTTPError && error.code === -1

const mebibyte = 1024 * 1024

/** What to tell of an error of the member's session. */
export const failureOf = (error: unknown): MemberFailure => {
  if (!(error instanceof Error)) {
    return { code: "member_unreachable", message: "its server did not answer", isBroken: true }
  }
  if (isInvalidAnswer(error)) {
    return { code: "member_answer_invalid", message: "its server's answer is not a valid MCP message", isBroken: false }
  }
  if (error instanceof BodyOverLimit) {
    const message = `its answer is larger than ${error.maxBytes / mebibyte} MiB`
    return { code: "member_answer_invalid", message, isBroken: false }
  }
  if (error instanceof NoHandshake) return { code: "member_timeout", message: error.message, isBroken: true }
  if (error instanceof TooManyEvents) return { code: "member_answer_invalid", message: error.message, isBroken: true }
  // Our own error in a stream ends its session; the server itself works.
  if (error instanceof AnswerTooLarge) return { code: "member_answer_invalid", message: error.message, isBroken: false }
  if (error instanceof McpError) {
    // Its SDK may have put such words before its own, and ours does.
    const said = lineOf(error.message.replace(/^(MCP error -?\d+: )+/, ""), longest)
    // Connection closed, and timed out: codes of the SDK, and of our gateway for a call that was cut off.
    const isBroken = error.code === -32000 || error.code === -32001
    return {
      code: isBroken ? "member_unreachable" : "member_error",
      message: said,
      isBroken,
      rpcCode: callersCode(error.code)
    }
  }
  const status = statusOf(error)
  const told = envelopeIn(error.message)
  if (status !== undefined && status > 0) {
    const isBroken = status >= 500
    // Whoever wrote it: a server may answer as our gateway does.
    const words = told === undefined ? "" : `: "${lineOf(told, longest)}"`
    const message = `the answer was status ${status}${words}`
    return { code: isBroken ? "member_unreachable" : "member_refused", message, isBroken }
  }
  const message = lineOf(told ?? `its server did not answer: ${error.message}`, longest)
  return { code: "member_unreachable", message, isBroken: true }
}
