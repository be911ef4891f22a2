import { type Actor } from "#src/accounts/CurrentActor.ts"
import { Idempotency, type StoredResponse } from "#src/shared/Idempotency.ts"
import { type HttpApp, HttpBody, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { CurrentCaller } from "./caller.ts"
import { errorResponse, failureOf } from "./errors.ts"

const textOf = ({ body }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""

const stored = (response: HttpServerResponse.HttpServerResponse): StoredResponse => ({
  status: response.status,
  contentType: response.body.contentType ?? null,
  location: response.headers["location"] ?? null,
  body: textOf(response)
})

const restored = ({ body, contentType, location, status }: StoredResponse) => {
  const headers = location === null ? {} : { location }
  return body === ""
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.setBody(
      HttpServerResponse.empty({ status, headers }),
      HttpBody.text(body, contentType ?? "application/json")
    )
}

const isProtocol = (url: string) => /^\/(mcp|sse|message|oauth|api\/v1\/oauth)(\/|\?|$)/.test(url)

/** A user's sessions may all do the same; what an API key may do is its own. */
const holderOf = ({ credential }: Actor) => credential.kind === "session" ? "session" : credential.id

/** Answers a repeated POST with its first answer, when the caller is known and sent an `Idempotency-Key`. */
export const idempotent = <E, R>(app: HttpApp.Default<E, R>) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const caller = yield* CurrentCaller
    const key = request.headers["idempotency-key"]
    if (key === undefined || request.method !== "POST" || caller._tag !== "Known" || isProtocol(request.url)) {
      return yield* app
    }
    const content = `${request.method} ${request.url}\n${yield* request.text}`
    const idempotency = yield* Idempotency
    const run = app.pipe(
      Effect.catchAllCause((cause) =>
        Effect.map(failureOf(request, cause), (failure) => errorResponse(request.url, failure))
      ),
      Effect.map(stored)
    )
    return yield* Effect.map(
      idempotency.once({ accountId: caller.actor.accountId, holder: holderOf(caller.actor), key, content }, run),
      restored
    )
  })
