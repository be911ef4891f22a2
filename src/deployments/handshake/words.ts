import { type LogLevel } from "#src/servers/ServerLog.ts"
import { lineOf } from "#src/shared/outside-text.ts"
import { acceptHost } from "../health.ts"
import { type McpReport, mostTools } from "../McpReport.ts"
import { type Cause, type HandshakeFailed } from "./failure.ts"
import { type ToolList } from "./tools.ts"

export interface Circumstances {
  readonly port: number
  readonly seconds: number
  /** The issuer of a server in byoa mode. */
  readonly foreignIssuer: string | undefined
}

const expected = "serve MCP at /mcp (Streamable HTTP), or at GET /sse with POST /message"

const doing = (method: string) => method === "endpoint" ? "GET" : method

/** A server in byoa mode that refuses who has no token of its issuer, as it should: the platform can't look behind. */
export const isGuarded = (cause: Cause, foreignIssuer: string | undefined) =>
  foreignIssuer !== undefined && cause._tag === "Status" && [401, 403].includes(cause.status)

/** What went wrong in the handshake, and what to do. */
export const problemOf = (
  { cause, method, path }: HandshakeFailed,
  { foreignIssuer, port, seconds }: Circumstances
): string => {
  const at = `${path} (${doing(method)})`
  switch (cause._tag) {
    case "Silent":
      return `${at} took the request and did not answer within ${seconds} seconds; a server that needs longer gets the ` +
        "time by its healthTimeoutSeconds (update_server)"
    case "Lost":
      return `${at} gave no usable answer: ${lineOf(cause.why, 200)}; the server's log may say why`
    case "NotMcp":
      return `${at} answered ${cause.what}; ${expected}`
    case "HostRefused":
      return `${at} answered with status ${cause.status} and refused the Host; ${acceptHost(port)}`
    case "Error":
      return `${at} answered with the JSON-RPC error ${cause.code}, ${
        lineOf(cause.message, 200)
      }; the server's log may ` +
        "say why"
    case "Status":
      break
  }
  const { status } = cause
  if (status === 401 && foreignIssuer !== undefined) {
    return `${at} wants a token of ${
      lineOf(foreignIssuer, 200)
    }, which the platform has none of: nothing is wrong, but ` +
      "the server's tools are not known"
  }
  const advice = status === 401
    ? "accept the platform's access tokens: their issuer is OAUTH_BASE_URL, their audience SVC_MCP_PUBLIC_URL"
    : status === 403
    ? acceptHost(port)
    : [404, 405].includes(status)
    ? expected
    : "the server's log may say why"
  return `${at} answered with status ${status}; ${advice}`
}

/** Neither transport was found: each path's status. */
export const nowhere = (mcp: number, sse: number) =>
  `no MCP server was found: /mcp answered with status ${mcp}, /sse with ${sse}; ${expected}`

/** What a list of tools leaves out, what its clients do, and what else is left out; null: nothing. */
export const leftOut = ({ isCut, refused, unusable }: ToolList, others: ReadonlyArray<string>): string | null => {
  const parts = [
    ...(refused === undefined
      ? []
      : [
        `clients that check the list, as the official SDKs do, refuse all of it: ${refused.field} of the tool ` +
        `"${refused.tool}" is not what MCP asks for; mend the tool, or take a version where it is`
      ]),
    ...(isCut
      ? [`not all tools are read, but ${mostTools} at most, of 4 MiB together and no page twice: list fewer`]
      : []),
    ...(unusable === 0
      ? []
      : [
        `${unusable} of the tools are left out: a name is 1 to 128 visible characters, and no two tools have the same`
      ]),
    ...others
  ]
  return parts.length === 0 ? null : parts.join("; ")
}

const counted = (tools: number) => tools === 1 ? "1 tool" : `${tools} tools`

/** What the server's log says of a result; `failed` is the level of a handshake that failed. */
export const linesOf = (
  { ok, problem, revision, toolCount, transport }: McpReport,
  milliseconds: number,
  failed: LogLevel
): ReadonlyArray<{ readonly level: LogLevel; readonly message: string }> => {
  const took = `${Math.round(milliseconds)} ms`
  if (!ok) {
    return [{ level: failed, message: `the MCP handshake did not work (${took}), the deployment goes on: ${problem}` }]
  }
  const line = `MCP ${revision} by ${transport}, ${counted(toolCount)} (${took})`
  return [
    { level: "info", message: line },
    ...(problem === null ? [] : [{ level: "warn" as const, message: `MCP: ${problem}` }])
  ]
}
