import { decodeInput } from "#src/shared/Failure.ts"
import { NoInput } from "#src/shared/text.ts"
import { HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"

const decode = decodeInput(NoInput)

const checked = Effect.gen(function*() {
  const request = yield* HttpServerRequest.HttpServerRequest
  // What is wrong with the text itself dies, as HttpApi has it die of a payload.
  if ((yield* Effect.orDie(request.text)) !== "") yield* decode(yield* Effect.orDie(request.json))
})

/** A POST that takes no fields: without a body or with `{}`; a field in it would be overlooked, so it is refused. */
export const takesNoBody = <A, E, R>(handler: Effect.Effect<A, E, R>) => Effect.zipRight(checked, handler)
