import { Schema } from "effect"

/** Why a member gave no result (docs/hub.md, "As one MCP server"). */
export const MemberCode = Schema.Literal(
  "member_gone",
  "member_not_callable",
  "member_refused",
  "member_revoked",
  "member_stopped",
  "member_unreachable",
  "member_timeout",
  "member_error",
  "member_answer_invalid",
  "member_needs_input"
)
export type MemberCode = typeof MemberCode.Type

/** Invalid params (JSON-RPC 2.0, 5.1), and a resource that is not there (MCP 2025-11-25, Resources, Error Handling). */
export const RpcCode = Schema.Literal(-32602, -32002)
export type RpcCode = typeof RpcCode.Type

const isCallers = Schema.is(RpcCode)
/** The code of a JSON-RPC error by which a member says that the caller is wrong: it stays, since others blame a server. */
export const callersCode = (code: number) => isCallers(code) ? code : undefined
