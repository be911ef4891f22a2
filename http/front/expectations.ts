import { routeMiddleware } from "#http/traits/route-middleware.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Schema } from "effect"

class ExpectationFailed extends Schema.TaggedError<ExpectationFailed>()(
  "ExpectationFailed",
  {},
  failsWith(417)
) {
  override get message() {
    return "The only Expect that is understood is 100-continue"
  }
}

/** RFC 9110 §10.1.1: an unsupported expectation is answered with 417; HTTP/1.0 has none. */
export const withoutExpectations = routeMiddleware<ExpectationFailed>((request, _route, app) => {
  const { headers: { expect }, httpVersion } = NodeHttpServerRequest.toIncomingMessage(request)
  const met = expect === undefined || httpVersion === "1.0" || /(^|\W)100-continue($|\W)/i.test(expect)
  return met ? app : new ExpectationFailed()
})
