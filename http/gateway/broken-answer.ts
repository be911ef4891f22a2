import { type Route } from "#src/routing/Route.ts"
import { type BrokenAnswers } from "#src/servers/BrokenAnswers.ts"
import { messageOf } from "#src/shared/message-of.ts"
import { Runtime } from "effect"
import { maxHeaderSize } from "node:http"

const kibibytes = maxHeaderSize / 1024

/**
 * What is wrong with an answer that can't be passed on; undefined where none came. The names and codes are those of
 * undici and its parser, and of Node where it refuses to write what the parser let through.
 */
export const brokenAnswer = (error: Error) => {
  const code = "code" in error ? String(error.code) : ""
  if (code === "UND_ERR_HEADERS_OVERFLOW" || code === "HPE_HEADER_OVERFLOW") {
    return `The headers of the server's answer are larger than ${kibibytes} KiB, the most that is passed on`
  }
  const isInvalid = error.name === "HTTPParserError" || /^bad (response|upgrade)$/.test(error.message) ||
    /^(ERR_INVALID_CHAR|ERR_HTTP_|UND_ERR_RES_)/.test(code) ||
    // What undici says of a status below 100.
    code === "ERR_ASSERTION" && error.message.includes("statusCode")
  return isInvalid ? "The server's answer is not valid HTTP" : undefined
}

/** Tells a server's owner why its machine's answer was not passed on. */
export const ownerTeller =
  ({ tell }: Pick<BrokenAnswers, "tell">, runtime: Runtime.Runtime<never>) =>
  ({ serverId }: Pick<Route, "serverId">, error: Error) => {
    const problem = brokenAnswer(error)
    // Cut, since a parser's message may have raw bytes of the machine's.
    if (problem !== undefined) {
      Runtime.runFork(runtime)(tell(serverId, problem, messageOf(error).replace(/\s+/g, " ").slice(0, 200)))
    }
  }
