import { Billing, BillingStatus } from "#src/billing/Billing.ts"
import { planList, PlanView } from "#src/plans/PlanList.ts"
import { NoInput } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

export const billingTools = Effect.map(Billing, (billing) => [
  tool({
    name: "list_plans",
    title: "List plans and prices",
    description: "Lists every plan with its price and all its limits. Use it to say what more would cost.",
    toolset: "billing",
    effect: "read",
    needs: "anybody",
    params: NoInput,
    success: Schema.Struct({ data: Schema.Array(PlanView) }),
    run: () => Effect.succeed({ data: planList })
  }),
  tool({
    name: "get_billing",
    title: "Read plan and usage",
    description: "Reads the account's plan, its limits and this month's usage. Use it before creating more servers.",
    toolset: "billing",
    effect: "read",
    needs: ["billing:read"],
    params: NoInput,
    success: BillingStatus,
    run: () => billing.status
  })
])
