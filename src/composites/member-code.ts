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
