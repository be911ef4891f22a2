import { type Reached } from "./callable-member.ts"
import { type Outcome } from "./MemberCalls.ts"

export const left: Outcome = { _tag: "Failed", code: "member_gone", message: "it is no member any more" }

/** Of one that was not asked. */
export const hindered = (one: Reached | undefined): Outcome =>
  one?.obstacle === undefined ? left : { _tag: "Failed", code: one.obstacle.code, message: one.obstacle.reason }

/** Of one whose server slept when it was asked: a machine may take longer to start than a member has. */
export const ofSleeper = (outcome: Outcome): Outcome =>
  outcome._tag === "Failed" && outcome.code === "member_timeout"
    ? { ...outcome, message: `${outcome.message}: it was asleep and is waking, ask it again in a few seconds` }
    : outcome
