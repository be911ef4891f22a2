import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Predicate } from "effect"

/** The session had ended before the request was sent. */
export class SessionEnded extends Error {
  override message = "its stream ended"
}

/** The status and the body of a refused POST, as the SDK's transports tell them. */
const refusalOf = (error: Error): readonly [status: number | undefined, body: string] => {
  const [, status, body = ""] = /Error POSTing to endpoint(?: \(HTTP (\d{3})\))?: ([^]*)$/.exec(error.message) ?? []
  return [error instanceof StreamableHTTPError ? error.code : Number(status), body]
}

/** How servers refuse a session that they don't know with 400, before they look at what is asked. */
const isGone =
  "(?:not (?:found|valid|known|initialized|active)|unknown|invalid|expired|terminated|closed|ended|gone|stale|lost|" +
  "timed out|no longer|(?:does not|doesn't) exist)"
const unknownSession = new RegExp(
  [
    "^(?:[\\w ]{1,20}: )?(?:",
    `(?:the |this |your )?(?:mcp[- ])?session(?:[- ]id)?\\b[^.]{0,80}\\b${isGone}\\b`,
    "|(?:no|unknown|invalid|expired|stale|missing)(?: [\\w/]+){0,3} session\\b",
    "|no transport found for session",
    "|server not initialized",
    ")"
  ].join(""),
  "i"
)
/** Codes of refused arguments and of tools: what they say of a session is of the server's own things. */
const ofTheCall = new Set<unknown>([-32_602, -32_603])
const longest = 300

const wordsOf = (body: string): string => {
  try {
    const message: unknown = JSON.parse(body)
    const error = Predicate.isRecord(message) ? message["error"] : undefined
    return Predicate.isRecord(error) && !ofTheCall.has(error["code"]) ? String(error["message"]) : ""
  } catch {
    return body.trim()
  }
}

/**
 * Whether the member has forgotten the session, so that the request did nothing: 404 (MCP 2025-11-25, Session
 * Management). Many servers say it with 400, which any other refusal may be, too: their words decide.
 */
export const isLostSession = (error: unknown): boolean => {
  if (error instanceof SessionEnded) return true
  if (!(error instanceof Error)) return false
  const [status, body] = refusalOf(error)
  return status === 404 || status === 400 && unknownSession.test(wordsOf(body).slice(0, longest))
}
