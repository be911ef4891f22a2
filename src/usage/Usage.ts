import { Effect } from "effect"
import { dayKey } from "./month.ts"
import { UsageRepo } from "./UsageRepo.ts"

/** The accounts' stored usage, a few seconds behind the counters. */
export class Usage extends Effect.Service<Usage>()("usage/Usage", {
  effect: Effect.map(UsageRepo, ({ daysOf, ofPeriod, reached }) => ({
    /** What is used of an account's current period, and when that begins and ends. */
    current: (accountId: string, at: Date) => ofPeriod(accountId, dayKey(at.getTime())),
    daysOf,
    reached
  } as const))
}) {}
