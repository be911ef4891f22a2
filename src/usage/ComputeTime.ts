import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { plans } from "#src/plans/Plan.ts"
import { ComputeUsedUp } from "#src/plans/PlanLimitReached.ts"
import { now } from "#src/shared/now.ts"
import { Effect } from "effect"
import { Usage } from "./Usage.ts"

/** The machine time of an account's period (docs/decisions/compute-cap.md). */
export class ComputeTime extends Effect.Service<ComputeTime>()("usage/ComputeTime", {
  effect: Effect.map(Usage, (usage) => ({
    /** Fails for whom nothing is left, before a machine is started. */
    check: Effect.gen(function*() {
      const { accountId, plan } = yield* CurrentActor
      const allowed = plans[plan].computeSecondsPerMonth
      if (allowed === null) return
      const { computeSeconds: used, resetsAt } = yield* usage.current(accountId, yield* now)
      if (used >= allowed) return yield* new ComputeUsedUp({ plan, used, resetsAt })
    })
  } as const))
}) {}
