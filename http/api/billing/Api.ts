import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { NoBody } from "#http/callers/NoBody.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import {
  AlreadySubscribed,
  BillingStatus,
  CheckoutPage,
  CheckoutUnderWay,
  NotSubscribed,
  OtherProcessor,
  PaymentsUnavailable,
  PlanInput
} from "#src/billing/Subscription.ts"
import { AccountPlan } from "#src/limits/AccountPlan.ts"
import { UsageQuery, UsageReport } from "#src/limits/UsageReport.ts"
import { BadRequest, Invalid } from "#src/shared/Failure.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"

export class BillingApi extends HttpApiGroup.make("billing")
  .add(
    HttpApiEndpoint.get("status", "/v1/billing")
      .addSuccess(Data(BillingStatus))
      .addError(Forbidden)
      .annotate(OpenApi.Summary, "Plan, period, usage and limits of the account")
      .annotate(
        OpenApi.Description,
        "A paid plan has the period of its subscription, any other the calendar month (UTC). Status past_due: a " +
          "payment failed and is tried again; the plan stays meanwhile. canceled: the subscription has ended, and the " +
          "plan is free."
      )
  )
  .add(
    HttpApiEndpoint.get("plan", "/v1/billing/plan")
      .addSuccess(Data(AccountPlan))
      .addError(Forbidden)
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "The account's plan with its price, and what is used of each of its limits")
  )
  .add(
    HttpApiEndpoint.get("usage", "/v1/billing/usage")
      .setUrlParams(UsageQuery)
      .addSuccess(Data(UsageReport))
      .addError(Forbidden)
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "Usage of the current period by day, and what is used of each limit of the plan")
      .annotate(
        OpenApi.Description,
        "The current period is that of `GET /v1/billing`; `month` asks for the days of a calendar month. Limits are those " +
          "of now and of the current period. Counts are seconds old. What is over a limit, after a change to a smaller " +
          "plan, stays: only new things are refused. People see the same at `/billing/usage`."
      )
  )
  .add(
    HttpApiEndpoint.post("subscribe", "/v1/billing/subscribe")
      .setPayload(PlanInput)
      .addSuccess(Data(CheckoutPage), { status: 201 })
      .addError(Invalid)
      .addError(AlreadySubscribed)
      .addError(CheckoutUnderWay)
      .addError(PaymentsUnavailable)
      .annotate(RouteTraits, { takes: "session" })
      .annotate(OpenApi.Summary, "Subscribe to a paid plan: answers with the page where the user pays")
      .annotate(
        OpenApi.Description,
        "Session only. Nothing is charged before the user has paid there. Called again before that, it answers with " +
          "the same page while it can be paid; with another plan, the page before is closed."
      )
  )
  .add(
    HttpApiEndpoint.del("cancel", "/v1/billing/subscribe")
      .addSuccess(HttpApiSchema.NoContent)
      .addError(NotSubscribed)
      .addError(OtherProcessor)
      .addError(PaymentsUnavailable)
      .middleware(NoBody)
      .annotate(RouteTraits, { takes: "session" })
      .annotate(OpenApi.Summary, "Cancel the subscription: the plan stays until the period ends, then it is free")
      .annotate(
        OpenApi.Description,
        "Session only. Switching to a paid plan before the end takes it back. A subscription of a payment processor " +
          "that the installation no longer uses ends with its period by itself; 409 where it is charged on there."
      )
  )
  .add(
    HttpApiEndpoint.patch("switchPlan", "/v1/billing/plan")
      .setPayload(PlanInput)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Invalid)
      .addError(NotSubscribed)
      .addError(OtherProcessor)
      .addError(PaymentsUnavailable)
      .annotate(RouteTraits, { takes: "session" })
      .annotate(OpenApi.Summary, "Switch between paid plans at once; the next bill has the difference")
      .annotate(
        OpenApi.Description,
        "Session only. From the free plan use POST /v1/billing/subscribe, back to it DELETE /v1/billing/subscribe. " +
          "What is over the limits of a smaller plan stays, and only new things are refused. A subscription of a " +
          "payment processor that the installation no longer uses can't be switched: subscribe anew."
      )
  )
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Billing")
{}
