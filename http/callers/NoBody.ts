import { BadRequest, decodeInput, Invalid } from "#src/shared/Failure.ts"
import { NoInput } from "#src/shared/text.ts"
import { HttpApiMiddleware, HttpServerRequest } from "@effect/platform"
import { Effect, Layer, Schema } from "effect"
import { CurrentCaller } from "./caller.ts"

const decode = decodeInput(NoInput)

/** The endpoint takes no fields: no body, or `{}`. A field in it would be overlooked, so it is refused. */
export class NoBody extends HttpApiMiddleware.Tag<NoBody>()("http/NoBody", {
  failure: Schema.Union(BadRequest, Invalid)
}) {}

export const NoBodyLive = Layer.succeed(
  NoBody,
  NoBody.of(Effect.gen(function*() {
    // Anybody else hears 401 before anything is said of the body.
    if ((yield* CurrentCaller)._tag !== "Known") return
    const request = yield* HttpServerRequest.HttpServerRequest
    // What is wrong with the text itself dies, as HttpApi has it die of a payload.
    if ((yield* Effect.orDie(request.text)) !== "") yield* decode(yield* Effect.orDie(request.json))
  }))
)
