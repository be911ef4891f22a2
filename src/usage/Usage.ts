import { Effect } from "effect"
import { UsageRepo } from "./UsageRepo.ts"

/** The accounts' stored usage, a few seconds behind the counters. */
export class Usage extends Effect.Service<Usage>()("usage/Usage", {
  effect: Effect.map(UsageRepo, ({ ofMonth }) => ({ ofMonth } as const))
}) {}
