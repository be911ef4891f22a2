import { quotable } from "#src/shared/outside-text.ts"
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { McpError } from "@modelcontextprotocol/sdk/types.js"
import { Predicate } from "effect"

/** Why a member gave no result. `isBroken`: it counts against the member. */
export interface MemberFailure {
  readonly message: string
  readonly isBroken: boolean
}

const longest = 300

/** The message of our gateway's envelope, or undefined. */
const envelopeIn = (text: string): string | undefined => {
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

/** What to tell of an error of the member's session, in a sentence without its full stop. */
export const failureOf = (error: unknown): MemberFailure => {
  if (!(error instanceof Error)) return { message: "its server did not answer", isBroken: true }
  if (error instanceof McpError) {
    const said = error.message.replace(/^MCP error -?\d+: /, "")
    return { message: quotable(said, longest), isBroken: error.code === -32000 || error.code === -32001 }
  }
  const status = statusOf(error)
  const told = envelopeIn(error.message)
  if (status !== undefined && status > 0) {
    const message = told ?? `its server answered with status ${status}`
    return { message: quotable(message, longest), isBroken: status >= 500 }
  }
  return { message: quotable(told ?? `its server did not answer: ${error.message}`, longest), isBroken: true }
}
