import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { planList } from "#src/plans/PlanList.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { PlansApi } from "./Api.ts"

export const PlansHandlers = HttpApiBuilder.group(
  apiOf(PlansApi),
  "plans",
  (handlers) => handlers.handle("list", () => Effect.succeed(data(planList)))
)
