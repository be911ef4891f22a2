import { Billing } from "#src/billing/Billing.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { Api } from "../Api.ts"
import { data } from "../envelope.ts"

export const BillingHandlers = HttpApiBuilder.group(
  Api,
  "billing",
  (handlers) => Effect.map(Billing, (billing) => handlers.handle("status", () => Effect.map(billing.status, data)))
)
