import { Billing, BillingStatus } from "#src/billing/Billing.ts"
import { NoInput } from "#src/shared/text.ts"
import { Effect } from "effect"
import { tool } from "./Tool.ts"

export const billingTools = Effect.map(Billing, (billing) => [
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
