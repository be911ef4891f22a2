import { type StripeSettings } from "#src/config/Settings.ts"
import { Data, Effect, Option, Predicate, Redacted } from "effect"
import { type Stripe } from "stripe"

/** A call of Stripe's API that failed. `status`: undefined without an answer. */
export class StripeFailure extends Data.TaggedError("StripeFailure")<{
  readonly status: number | undefined
  readonly code: string | undefined
  /** The parameter that was wrong. */
  readonly param: string | undefined
  readonly message: string
}> {}

const textAt = (error: unknown, name: string) =>
  Predicate.hasProperty(error, name) && typeof error[name] === "string" ? error[name] : undefined

const failureOf = (error: unknown) =>
  new StripeFailure({
    status: Predicate.hasProperty(error, "statusCode") && typeof error.statusCode === "number"
      ? error.statusCode
      : undefined,
    code: textAt(error, "code"),
    param: textAt(error, "param"),
    message: textAt(error, "message") ?? "no answer"
  })

/** Where the API is: Stripe's, or what the setting names. */
const hostOf = (apiUrl: Option.Option<string>): Stripe.StripeConfig =>
  Option.match(apiUrl, {
    onNone: () => ({}),
    onSome: (text) => {
      const { hostname, port, protocol } = new URL(text)
      const secure = protocol === "https:"
      return { host: hostname, port: port === "" ? (secure ? 443 : 80) : port, protocol: secure ? "https" : "http" }
    }
  })

/**
 * Stripe's SDK: loaded where it is used, because it is large, and tried again by itself where a call failed without an
 * answer, with the same idempotency key. `use` runs one call.
 */
export const stripeClient = ({ apiUrl, secretKey }: StripeSettings) =>
  Effect.map(
    Effect.promise(() => import("stripe")),
    ({ Stripe }) => {
      const client = new Stripe(Redacted.value(secretKey), {
        maxNetworkRetries: 2,
        timeout: 10_000,
        telemetry: false,
        ...hostOf(apiUrl)
      })
      return {
        client,
        use: <A>(call: (stripe: Stripe) => Promise<A>) =>
          Effect.tryPromise({ try: () => call(client), catch: failureOf })
      } as const
    }
  )
