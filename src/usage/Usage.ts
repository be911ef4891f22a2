import { Effect } from "effect"
import { UsageRepo } from "./UsageRepo.ts"

/** What accounts used, as the database has it: a few seconds behind what is counted. */
export class Usage extends Effect.Service<Usage>()("usage/Usage", {
  effect: Effect.map(UsageRepo, ({ ofMonth }) => ({ ofMonth } as const))
}) {}
