import { data } from "#http/answers/envelope.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { PaymentEvents } from "#src/billing/PaymentEvents.ts"
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/**
 * Events of the payment processor. The body is taken as text, as it came: the signature is of its bytes, which are
 * UTF-8 (http/api/middleware/bodies.ts refuses others).
 */
export const WebhookRoute = rawRoutes((add) =>
  Effect.gen(function*() {
    const events = yield* PaymentEvents
    const receive = Effect.gen(function*() {
      const { headers, text } = yield* HttpServerRequest.HttpServerRequest
      yield* events.receive(yield* text, headers["stripe-signature"])
      return yield* HttpServerResponse.json(data({ received: true }))
    })
    yield* add("POST", "/api/v1/billing/webhook", { rate: "webhook" }, receive)
  })
)
