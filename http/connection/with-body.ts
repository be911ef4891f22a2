import { type Headers, type HttpServerRequest } from "@effect/platform"
import { type Effect } from "effect"

interface Body<E, E2> {
  readonly text: Effect.Effect<string, E>
  readonly json?: Effect.Effect<unknown, E2>
  readonly headers?: Headers.Headers
}

/** The same request with its body already read, or with the error of reading it. */
export const withBody = <E, E2>(request: HttpServerRequest.HttpServerRequest, body: Body<E, E2>) =>
  Object.create(
    request,
    Object.fromEntries(Object.entries(body).map(([name, value]) => [name, { value }]))
  ) as HttpServerRequest.HttpServerRequest
