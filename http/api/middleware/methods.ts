import { routeMiddleware } from "#http/traits/route-middleware.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { HttpServerResponse } from "@effect/platform"
import { Effect, Schema } from "effect"

/** The path exists for other methods (RFC 9110 §15.5.6). */
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
 * For a path that has routes for other methods only: OPTIONS lists them, any other method is 405. Only the form of the
 * path counts, not whether its ids exist or who the caller is.
 */
export const withMethods = routeMiddleware<MethodNotAllowed>(({ method }, { allow, known }, app) => {
  if (known || allow.length === 0) return app
  return method === "OPTIONS"
    ? Effect.succeed(HttpServerResponse.empty({ status: 204, headers: { allow: allow.join(", ") } }))
    : new MethodNotAllowed({ method, allow })
})
