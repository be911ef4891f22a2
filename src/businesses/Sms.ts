import { CurrentSettings } from "#src/config/Settings.ts"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { Context, Data, Effect, Layer, Option, Predicate, Redacted } from "effect"

/** The gateway did not accept a message. The error's text never names the number. */
export class SmsError extends Data.TaggedError("SmsError")<{
  readonly message: string
  /** True when the outcome is unknown: the gateway got the request and gave no answer. */
  readonly mayBeSent: boolean
}> {}

/** Sends a text message to a telephone number. */
export class Sms extends Context.Tag("businesses/Sms")<Sms, {
  readonly send: (to: string, text: string) => Effect.Effect<void, SmsError>
}>() {}

/** Without a gateway, messages go to the log, where the operator can read them. */
const toLog = Sms.of({ send: (to, text) => Effect.logInfo(`SMS to ${to}: ${text}`) })

/** Error codes of a connection that was never made: the host has no address, or nothing listens there. */
const notConnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

/** The `code` of an error or of its nearest cause that has one. */
const codeOf = (error: unknown): string => {
  if (!Predicate.isObject(error)) return ""
  return Predicate.hasProperty(error, "code")
    ? String(error.code)
    : Predicate.hasProperty(error, "cause")
    ? codeOf(error.cause)
    : ""
}

/**
 * A gateway with the interface of Twilio's Messages resource: a form of To, From and Body with Basic authentication.
 * User, password and `From` come from the URL of the setting.
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
        Effect.mapError((error) => failed("could not be reached", !notConnected.test(codeOf(error)))),
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

/** Uses the gateway when `SMS_URL` is set, else the log. */
export const SmsLive = Layer.effect(
  Sms,
  Effect.gen(function*() {
    const { smsUrl } = yield* CurrentSettings
    const client = yield* HttpClient.HttpClient
    return Option.match(smsUrl, { onNone: () => toLog, onSome: (url) => toGateway(Redacted.value(url), client) })
  })
).pipe(Layer.provide(FetchHttpClient.layer))
