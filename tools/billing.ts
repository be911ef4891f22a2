import { Billing } from "#src/billing/Billing.ts"
import { BillingStatus, CheckoutPage, PlanInput } from "#src/billing/Subscription.ts"
import { AccountPlan } from "#src/limits/AccountPlan.ts"
import { AccountPlans } from "#src/limits/AccountPlans.ts"
import { usageFields, UsageReport } from "#src/limits/UsageReport.ts"
import { UsageReports } from "#src/limits/UsageReports.ts"
import { planList, PlanView } from "#src/plans/PlanList.ts"
import { Input, NoInput } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

const paying = { toolset: "billing", needs: "session" } as const

export const billingTools = Effect.map(
  Effect.all([Billing, AccountPlans, UsageReports]),
  ([billing, plans, reports]) => [
    tool({
      name: "list_plans",
      title: "List plans and prices",
      description:
        "Lists every plan with its price and all its limits. Use it to say what more would cost; then subscribe or " +
        "change_plan (call_tool).",
      toolset: "billing",
      effect: "read",
      needs: "anybody",
      params: NoInput,
      success: Schema.Struct({ data: Schema.Array(PlanView) }),
      run: () => Effect.succeed({ data: planList })
    }),
    tool({
      name: "get_plan",
      title: "Read your plan, limits and usage",
      description:
        "Reads the account's plan with its price and limits, what is used of each, and whether it is paid. Use " +
        "it before creating more, and to say what is left; list_plans tells what more would cost.",
      toolset: "billing",
      effect: "read",
      needs: ["billing:read"],
      params: NoInput,
      success: AccountPlan,
      run: () => plans.get()
    }),
    tool({
      name: "get_billing",
      title: "Read plan and usage",
      description:
        "Reads the account's plan, whether it is paid, and its limits and usage of the period; get_plan tells " +
        "more.",
      toolset: "billing",
      effect: "read",
      needs: ["billing:read"],
      params: NoInput,
      success: BillingStatus,
      run: () => billing.status
    }),
    tool({
      name: "get_usage",
      title: "Read usage by day",
      description:
        "Reads the current period's or a month's requests, compute seconds and bytes by day, and what is used of each " +
        "limit of the plan. Use it before creating more servers, and to say when a limit will be reached or what is over it.",
      toolset: "billing",
      effect: "read",
      needs: ["billing:read"],
      params: Input(usageFields),
      success: UsageReport,
      run: reports.get
    }),
    tool({
      ...paying,
      name: "subscribe",
      title: "Subscribe to a paid plan",
      description:
        "Begins a subscription of an account on the free plan. It charges nothing: it answers with a page; give the user " +
        "its url, where they see the price and pay. Called again before that, it answers with the same page " +
        "while it can be paid.",
      effect: "update",
      params: PlanInput,
      success: CheckoutPage,
      run: billing.subscribe
    }),
    tool({
      ...paying,
      name: "change_plan",
      title: "Switch between paid plans",
      description:
        "Switches a paid subscription to another paid plan, at once; the next bill has the difference. It costs the user " +
        "money: ask first. It also takes a cancellation back. From the free plan use subscribe, back to it " +
        "cancel_subscription.",
      effect: "replace",
      params: PlanInput,
      run: billing.switchPlan
    }),
    tool({
      ...paying,
      name: "cancel_subscription",
      title: "Cancel the subscription",
      description:
        "Cancels the paid subscription at the end of its period: until then the plan stays, afterwards it is free, and " +
        "nothing is deleted. Ask the user first. change_plan takes it back.",
      effect: "delete",
      params: NoInput,
      run: () => billing.cancel
    })
  ]
)
