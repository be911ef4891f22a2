import { type BadRequest } from "#src/shared/Failure.ts"
import { type Headers, type HttpServerRequest } from "@effect/platform"
import { type Effect } from "effect"

interface Body<E> {
  readonly text: Effect.Effect<string, E>
  readonly json?: Effect.Effect<unknown, BadRequest>
  readonly headers?: Headers.Headers
}

/** The same request with its body read already, or found to be no good: what asks for it gets this. */
export const withBody = <E>(request: HttpServerRequest.HttpServerRequest, body: Body<E>) =>
  Object.create(
    request,
    Object.fromEntries(Object.entries(body).map(([name, value]) => [name, { value }]))
  ) as HttpServerRequest.HttpServerRequest
