import { CurrentSettings } from "#src/Config.ts"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { Context, Data, Effect, Layer, Option, Redacted } from "effect"

/** A message could not be handed over. The message names no number. */
export class SmsError extends Data.TaggedError("SmsError")<{ readonly message: string }> {}

/** Sends a text message to a telephone number. */
export class Sms extends Context.Tag("businesses/Sms")<Sms, {
  readonly send: (to: string, text: string) => Effect.Effect<void, SmsError>
}>() {}

/** Without a gateway the operator of the installation reads the log. */
const toLog = Sms.of({ send: (to, text) => Effect.logInfo(`SMS to ${to}: ${text}`) })

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
  const failed = (what: string) => new SmsError({ message: `The SMS gateway ${url.host} ${what}` })
  return Sms.of({
    send: (to, text) =>
      HttpClientRequest.post(url.href).pipe(
        HttpClientRequest.basicAuth(user, password),
        HttpClientRequest.bodyUrlParams({ To: to, From: from, Body: text }),
        client.execute,
        Effect.timeout("10 seconds"),
        Effect.mapError(() => failed("could not be reached")),
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
