import { failsWith } from "#src/shared/Failure.ts"
import { HttpApiBuilder, type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Schema } from "effect"
import { make } from "find-my-way-ts"

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

/** Paths are told apart by case (RFC 3986 §6.2.2.1), and a parameter may be as long as the longest name of ours. */
export const routing = { caseSensitive: true, maxParamLength: 255 }

/** Routes that are there to say that they are not: a client without a token is told where to get one first. */
const refusing = new Set(["GET /mcp", "DELETE /mcp"])

const order = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

/** The same paths and rules as the router of the application has. */
const methodsOf = Effect.map(HttpApiBuilder.Router.router, ({ routes }) => {
  const router = make<string>(routing)
  for (const { method, path } of routes) router.on(method, path, path)
  const find = (method: string, url: string) => router.find(method === "HEAD" ? "GET" : method, url)?.handler
  return {
    has: (method: string, url: string) => find(method, url) !== undefined,
    /** Empty when nothing is at the path. */
    at: (url: string) => {
      const own = order.filter((method) => {
        const path = find(method, url)
        return path !== undefined && !refusing.has(`${method === "HEAD" ? "GET" : method} ${path}`)
      })
      return own.length === 0 ? own : order.filter((method) => method === "OPTIONS" || own.includes(method))
    }
  }
})

/**
 * What the router does not have at a path that it has for other methods: OPTIONS tells them, any other method is 405
 * with them. Only the form of the path counts, whatever it names and whoever asks.
 */
export const withMethods = Effect.map(
  // Routes are added while the layers are built; the first request finds them complete.
  Effect.flatMap(
    Effect.context<HttpApiBuilder.Router>(),
    (context) => Effect.cached(Effect.provide(methodsOf, context))
  ),
  (methodsOnce) => <E, R>(app: HttpApp.Default<E, R>) =>
    Effect.gen(function*() {
      const { method, url } = yield* HttpServerRequest.HttpServerRequest
      const methods = yield* methodsOnce
      if (methods.has(method, url)) return yield* app
      const allow = methods.at(url)
      if (allow.length === 0) return yield* app
      if (method !== "OPTIONS") return yield* new MethodNotAllowed({ method, allow })
      return HttpServerResponse.empty({ status: 204, headers: { allow: allow.join(", ") } })
    })
)
