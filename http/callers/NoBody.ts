import { BadRequest, decodeInput, Invalid } from "#src/shared/Failure.ts"
import { NoInput } from "#src/shared/text.ts"
import { HttpApiMiddleware, HttpServerRequest } from "@effect/platform"
import { Effect, Layer, Schema } from "effect"
import { CurrentCaller } from "./caller.ts"

const decode = decodeInput(NoInput)

/** The endpoint takes no body, or `{}`. Any field is rejected, since it would be ignored. */
export class NoBody extends HttpApiMiddleware.Tag<NoBody>()("http/NoBody", {
  failure: Schema.Union(BadRequest, Invalid)
}) {}

export const NoBodyLive = Layer.succeed(
  NoBody,
  NoBody.of(Effect.gen(function*() {
    // Other callers get 401 before any error of the body.
    if ((yield* CurrentCaller)._tag !== "Authenticated") return
    const request = yield* HttpServerRequest.HttpServerRequest
    // Errors of the text itself are defects, as those of a payload are in HttpApi.
    if ((yield* Effect.orDie(request.text)) !== "") yield* decode(yield* Effect.orDie(request.json))
  }))
)
