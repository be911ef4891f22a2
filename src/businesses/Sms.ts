import { CurrentSettings } from "#src/config/Settings.ts"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { Context, Data, Effect, Layer, Option, Predicate, Redacted } from "effect"

/** A message could not be handed over. The message names no number. */
export class SmsError extends Data.TaggedError("SmsError")<{
  readonly message: string
  /** Nobody knows: the gateway had it, and gave no answer. */
  readonly mayBeSent: boolean
}> {}

/** Sends a text message to a telephone number. */
export class Sms extends Context.Tag("businesses/Sms")<Sms, {
  readonly send: (to: string, text: string) => Effect.Effect<void, SmsError>
}>() {}

/** Without a gateway the operator of the installation reads the log. */
const toLog = Sms.of({ send: (to, text) => Effect.logInfo(`SMS to ${to}: ${text}`) })

/** What a connection that never came about ends with: its host has no address, or nobody listens there. */
const unreached = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

/** The code at the bottom of an error, which the layers above it wrap. */
const codeOf = (error: unknown): string => {
  if (!Predicate.isObject(error)) return ""
  return Predicate.hasProperty(error, "code")
    ? String(error.code)
    : Predicate.hasProperty(error, "cause")
    ? codeOf(error.cause)
    : ""
}

/**
 * A gateway that takes what Twilio's Messages resource takes: a form of To, From and Body with Basic authentication,
 * user, password and `From` being those of the URL.
 */
const toGateway = (setting: string, client: HttpClient.HttpClient) => {
  const url = new URL(setting)
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const from = url.searchParams.get("From") ?? ""
  url.username = url.password = ""
  url.searchParams.delete("From")
  const failed = (what: string, mayBeSent = false) =>
    new SmsError({ message: `The SMS gateway ${url.host} ${what}`, mayBeSent })
  return Sms.of({
    send: (to, text) =>
      HttpClientRequest.post(url.href).pipe(
        HttpClientRequest.basicAuth(user, password),
        HttpClientRequest.bodyUrlParams({ To: to, From: from, Body: text }),
        client.execute,
        Effect.mapError((error) => failed("could not be reached", !unreached.test(codeOf(error)))),
        Effect.timeoutFail({
          duration: "10 seconds",
          onTimeout: () => failed("did not answer within 10 seconds", true)
        }),
        Effect.filterOrFail(
          ({ status }) => status >= 200 && status < 300,
          ({ status }) => failed(`answered ${status}`)
        ),
        Effect.scoped,
        Effect.asVoid
      )
  })
}

/** `SMS_URL` decides which. */
export const SmsLive = Layer.effect(
  Sms,
  Effect.gen(function*() {
    const { smsUrl } = yield* CurrentSettings
    const client = yield* HttpClient.HttpClient
    return Option.match(smsUrl, { onNone: () => toLog, onSome: (url) => toGateway(Redacted.value(url), client) })
  })
).pipe(Layer.provide(FetchHttpClient.layer))
