import { errorResponse, failureOf } from "#http/answers/errors.ts"
import { type Caller, CurrentCaller } from "#http/callers/caller.ts"
import { routeMiddleware } from "#http/traits/route-middleware.ts"
import { type Traits } from "#http/traits/Traits.ts"
import { type Actor } from "#src/accounts/CurrentActor.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { canonicalJson } from "#src/shared/canonical-json.ts"
import { addressBucket } from "#src/shared/client-address.ts"
import { type Idempotency, signUp, type StoredResponse } from "#src/shared/Idempotency.ts"
import { digestOf } from "#src/shared/tokens.ts"
import { Cookies, type HttpApp, HttpBody, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Option, Predicate } from "effect"

const textOf = ({ body }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""

const toStored = (response: HttpServerResponse.HttpServerResponse): StoredResponse => ({
  status: response.status,
  contentType: response.body.contentType ?? null,
  location: response.headers["location"] ?? null,
  retryAfter: response.headers["retry-after"],
  cookies: Cookies.toSetCookieHeaders(response.cookies),
  body: textOf(response)
})

const fromStored = ({ body, contentType, cookies, location, retryAfter, status }: StoredResponse) => {
  const headers = {
    ...(location === null ? {} : { location }),
    ...(retryAfter === undefined ? {} : { "retry-after": retryAfter })
  }
  const empty = HttpServerResponse.empty({ status, headers, cookies: Cookies.fromSetCookie(cookies) })
  return body === "" ? empty : HttpServerResponse.setBody(empty, HttpBody.text(body, contentType ?? "application/json"))
}

/** A user's sessions have equal rights; each API key has its own. */
const idempotencyHolder = ({ credential }: Actor) => credential.kind === "session" ? "session" : credential.id

const emailIn = (text: string) =>
  Option.flatMap(
    Option.liftThrowable((): unknown => JSON.parse(text))(),
    (body) =>
      Predicate.hasProperty(body, "email") && typeof body.email === "string"
        ? Option.some(body.email.toLowerCase())
        : Option.none()
  )

/**
 * The owner of a key: the account and its credential. A sign-up has neither, so its owner is the e-mail address with
 * the IP address: two people who chose the same key don't affect each other, nobody elsewhere can try passwords with
 * it, and the response, which holds a session, goes only to a repeat from the same place.
 */
const ownerOf = (caller: Caller, { idempotency }: Traits, text: string, address: string) => {
  if (caller._tag === "Authenticated") {
    return Option.some({ accountId: caller.actor.accountId, holder: idempotencyHolder(caller.actor) })
  }
  return Option.map(
    Option.filter(emailIn(text), () => idempotency === "email"),
    (email) => ({ accountId: signUp, holder: digestOf(`${addressBucket(address)}\n${email}`).toString("base64url") })
  )
}

const withKey = <E, R>(
  idempotency: Idempotency,
  key: string,
  request: HttpServerRequest.HttpServerRequest,
  traits: Traits,
  app: HttpApp.Default<E, R>
) =>
  Effect.gen(function*() {
    const caller = yield* CurrentCaller
    if (caller._tag !== "Authenticated" && traits.idempotency !== "email") return yield* app
    const text = yield* request.text
    const owner = ownerOf(caller, traits, text, yield* CallerAddress)
    if (Option.isNone(owner)) return yield* app
    const content = `${request.method} ${request.url}\n${canonicalJson(text)}`
    const run = app.pipe(
      Effect.catchAllCause((cause) =>
        Effect.map(failureOf(request, traits, cause), (failure) => errorResponse(traits, failure))
      ),
      Effect.map(toStored)
    )
    return yield* Effect.map(idempotency.once({ ...owner.value, key, content }, run), fromStored)
  })

type KeyError = Effect.Effect.Error<ReturnType<typeof withKey<never, never>>>

/** Replays the first response to a repeated POST with the same `Idempotency-Key`. */
export const idempotent = (idempotency: Idempotency) =>
  routeMiddleware<KeyError>((request, { traits }, app) => {
    const key = request.headers["idempotency-key"]
    return key === undefined || request.method !== "POST" || traits.idempotency === "none"
      ? app
      : withKey(idempotency, key, request, traits, app)
  })
