import { type StripeSettings } from "#src/config/Settings.ts"
import { messageOf } from "#src/shared/message-of.ts"
import { Data, Effect, Option, Predicate, Redacted, Schema } from "effect"
import { type Stripe } from "stripe"
import { faultsIn } from "./stripe-answers.ts"
import { callSignal, stripeFetch } from "./stripe-http.ts"

/** A call of Stripe's API that failed. `status`: undefined without an answer of Stripe. */
export class StripeFailure extends Data.TaggedError("StripeFailure")<{
  readonly status: number | undefined
  readonly code: string | undefined
  /** The parameter that was wrong. */
  readonly param: string | undefined
  readonly message: string
}> {}

const textAt = (error: unknown, name: string) =>
  Predicate.hasProperty(error, name) && typeof error[name] === "string" ? error[name] : undefined

/** What broke a connection: the SDK has it as `detail`, `fetch` as `cause`. */
const rootOf = (error: unknown): unknown => {
  for (const name of ["detail", "cause"]) {
    if (Predicate.hasProperty(error, name) && error[name] instanceof Error) return rootOf(error[name])
  }
  return error
}

const failureOf = (error: unknown) => {
  const status = Predicate.hasProperty(error, "statusCode") && typeof error.statusCode === "number"
    ? error.statusCode
    : undefined
  return new StripeFailure({
    status,
    code: textAt(error, "code"),
    param: textAt(error, "param"),
    message: messageOf(status === undefined ? rootOf(error) : error)
  })
}

/** An answer that is not as Stripe documents it counts as none. */
const noAnswer = (message: string) =>
  new StripeFailure({ status: undefined, code: undefined, param: undefined, message })

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
 * answer, with the same idempotency key. `use` runs one call and reads what it answers.
 */
export const stripeClient = ({ apiUrl, secretKey }: StripeSettings) =>
  Effect.map(
    Effect.promise(() => import("stripe")),
    ({ Stripe }) => {
      const client = new Stripe(Redacted.value(secretKey), {
        maxNetworkRetries: 2,
        timeout: 10_000,
        telemetry: false,
        httpClient: Stripe.createFetchHttpClient(stripeFetch),
        ...hostOf(apiUrl)
      })
      return {
        client,
        use: <A, I>(answer: Schema.Schema<A, I>, call: (stripe: Stripe) => Promise<unknown>) =>
          Effect.tryPromise({ try: (signal) => callSignal.run(signal, () => call(client)), catch: failureOf }).pipe(
            Effect.timeoutFail({ duration: "25 seconds", onTimeout: () => noAnswer("it took too long") }),
            Effect.flatMap((value) =>
              Effect.mapError(Schema.decodeUnknown(answer)(value), (error) => noAnswer(faultsIn(error)))
            )
          )
      } as const
    }
  )
