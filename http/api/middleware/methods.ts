import { CurrentRoute } from "#http/traits/Traits.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Schema } from "effect"

/** The path is known, and does something for other methods (RFC 9110 §15.5.6). */
class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()(
  "MethodNotAllowed",
  { method: Schema.String, allow: Schema.Array(Schema.String) },
  failsWith(405)
) {
  override get message() {
    return `${this.method} is not supported here; use ${this.allow.join(", ")}`
  }
}

/**
 * What the router does not have at a path that it has for other methods: OPTIONS tells them, any other method is 405
 * with them. Only the form of the path counts, whatever it names and whoever asks.
 */
export const withMethods = <E, R>(app: HttpApp.Default<E, R>) =>
  Effect.gen(function*() {
    const { allow, known } = yield* CurrentRoute
    if (known || allow.length === 0) return yield* app
    const { method } = yield* HttpServerRequest.HttpServerRequest
    if (method !== "OPTIONS") return yield* new MethodNotAllowed({ method, allow })
    return HttpServerResponse.empty({ status: 204, headers: { allow: allow.join(", ") } })
  })
