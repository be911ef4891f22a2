import { failsWith } from "#src/shared/Failure.ts"
import { type HttpApp, HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Schema } from "effect"

class ExpectationFailed extends Schema.TaggedError<ExpectationFailed>()(
  "ExpectationFailed",
  {},
  failsWith(417, "EXPECTATION_FAILED")
) {
  override get message() {
    return "The only Expect that is understood is 100-continue"
  }
}

/** RFC 9110 §10.1.1: a server that can't meet an expectation says so; HTTP/1.0 had none. */
export const withoutExpectations = <E, R>(app: HttpApp.Default<E, R>) =>
  Effect.gen(function*() {
    const { headers: { expect }, httpVersion } = NodeHttpServerRequest.toIncomingMessage(
      yield* HttpServerRequest.HttpServerRequest
    )
    const met = expect === undefined || httpVersion === "1.0" || /(^|\W)100-continue($|\W)/i.test(expect)
    return yield* met ? app : new ExpectationFailed()
  })
