import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { BillingStatus } from "#src/billing/Billing.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"

export class BillingApi extends HttpApiGroup.make("billing")
  .add(
    HttpApiEndpoint.get("status", "/v1/billing")
      .addSuccess(Data(BillingStatus))
      .addError(Forbidden)
      .annotate(OpenApi.Summary, "Plan, period, usage and limits of the account")
  )
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Billing")
{}
