import { optional, Text } from "#src/shared/text.ts"
import { Effect, type ParseResult, Predicate, Schema } from "effect"
import { type ProcessorEvent } from "./Checkout.ts"
import { faultsIn, StripeId } from "./stripe-answers.ts"
import { BadWebhook } from "./Subscription.ts"

const Kind = Schema.Unknown.pipe(
  Schema.filter((kind) => kind !== "v2.core.event" || "is that of a thin event; let Stripe send snapshot events")
)

/** A snapshot event (docs.stripe.com/event-destinations). What it is about may be anything. */
const Snapshot = Schema.parseJson(Schema.Struct({
  object: optional(Kind),
  id: StripeId,
  data: Schema.Struct({ object: Schema.Unknown })
}))

const Whose = Schema.Struct({ customer: Schema.UndefinedOr(StripeId), account: Schema.UndefinedOr(Text(255)) })

/** A field that has an id, or the object itself. */
const idAt = (object: unknown, name: string): string | undefined => {
  const value = Predicate.hasProperty(object, name) ? object[name] : undefined
  return typeof value === "string" ? value : value === undefined || value === null ? undefined : idAt(value, "id")
}

const notTaken = (error: ParseResult.ParseError) =>
  new BadWebhook({ reason: `The body is signed, and is no event that is taken here: ${faultsIn(error)}` })

/** Reads a body that Stripe has signed. Events of checkouts, subscriptions and invoices name their customer. */
export const eventIn = (body: string): Effect.Effect<ProcessorEvent, BadWebhook> =>
  Effect.gen(function*() {
    const { data: { object }, id } = yield* Schema.decode(Snapshot)(body)
    const metadata = Predicate.hasProperty(object, "metadata") ? object.metadata : undefined
    const { account, customer } = yield* Schema.decodeUnknown(Whose)({
      customer: idAt(object, "customer"),
      account: idAt(object, "client_reference_id") ?? idAt(metadata, "accountId")
    })
    return { id, customerId: customer, accountId: account }
  }).pipe(Effect.mapError(notTaken))
