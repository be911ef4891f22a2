import { Data } from "#http/answers/envelope.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { PlanView } from "#src/plans/PlanList.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"

export class PlansApi extends HttpApiGroup.make("plans")
  .add(
    HttpApiEndpoint.get("list", "/v1/plans")
      .addSuccess(Data(Schema.Array(PlanView)))
      .annotate(RouteTraits, { openToPages: true })
      .annotate(OpenApi.Summary, "List the plans, with every limit and price")
      .annotate(
        OpenApi.Description,
        "Public, the cheapest plan first. What a plan refuses is 403 PLAN_LIMIT_REACHED, and 429 with the same code for " +
          "the month's requests to hosted servers (`details.resetsAt` tells until when); plan_limit_reached where codes " +
          "are in lower case. `details` are { limit, used, allowed, plan, nextPlan, nextPrice }; the answer's fields say " +
          "which `limit` each is. `used` and `allowed` are numbers, except for `region` (the one asked for, and a list) " +
          "and `autoStop` (`never` and `required`)."
      )
  )
  .annotate(OpenApi.Title, "Plans")
{}
