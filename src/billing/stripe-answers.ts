import { issuesOf } from "#src/format/issues.ts"
import { optional, Text } from "#src/shared/text.ts"
import { type ParseResult, Schema } from "effect"

// What is read of Stripe's objects (docs.stripe.com/api). Whatever is not like this counts as no answer.

/** As long as Stripe lets an id grow (docs.stripe.com, "Upgrades"). */
export const StripeId = Text(255).pipe(Schema.minLength(1))

/** Seconds since 1970, to the end of the year 9999. */
const Seconds = Schema.Int.pipe(Schema.between(0, 253_402_300_799))

/** Of whatever was made, where no more is asked for. */
export const Made = Schema.Struct({ id: StripeId })

export const OpenedSession = Schema.Struct({ id: StripeId, url: Schema.NullOr(Text(5_000)) })

export const ClosedSession = Schema.Struct({ status: Schema.Literal("expired") })

/** `subscription`: the object, because it is asked for; an id where Stripe does not expand it. */
export const SessionNow = Schema.Struct({
  status: Schema.NullOr(Schema.String),
  subscription: optional(
    Schema.NullOr(Schema.Union(Schema.String, Schema.Struct({ status: Schema.String })))
  )
})
export type SessionNow = typeof SessionNow.Type

/** One that was deleted there has no metadata. */
export const CustomerNow = Schema.Struct({
  metadata: optional(Schema.Record({ key: Schema.String, value: Schema.String }))
})

export const StripeSubscription = Schema.Struct({
  id: StripeId,
  status: Schema.String,
  created: Seconds,
  cancel_at: Schema.NullOr(Seconds),
  cancel_at_period_end: Schema.Boolean,
  metadata: Schema.Record({ key: Schema.String, value: Schema.String }),
  items: Schema.Struct({
    data: Schema.Array(Schema.Struct({
      id: StripeId,
      price: Schema.Struct({ id: StripeId }),
      current_period_start: Seconds,
      current_period_end: Seconds
    }))
  })
})
export type StripeSubscription = typeof StripeSubscription.Type

/** What is wrong with a value, without the value: it may tell of a buyer. */
export const faultsIn = (error: ParseResult.ParseError) =>
  issuesOf(error).map(({ message, path }) => `${path === "" ? "it" : path} ${message}`).join(", ")
