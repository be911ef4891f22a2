import { type Reached } from "./callable-member.ts"
import { type Outcome } from "./MemberCalls.ts"

export const left: Outcome = { _tag: "Failed", code: "member_gone", message: "it is not a member any longer" }

/** Of one that was not asked. */
export const hindered = (one: Reached | undefined): Outcome =>
  one?.obstacle === undefined ? left : { _tag: "Failed", code: one.obstacle.code, message: one.obstacle.reason }
