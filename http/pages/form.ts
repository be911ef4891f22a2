import { Forbidden } from "#src/accounts/Policy.ts"
import { type Settings } from "#src/config/Settings.ts"
import { HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"

/** Every present browser sends the origin of a form (Fetch standard, 3.2). */
const fromOurPage = ({ headers }: HttpServerRequest.HttpServerRequest, { authUrl }: Settings) => {
  const origin = headers["origin"]
  return origin === undefined ? headers["sec-fetch-site"] === "same-origin" : origin === new URL(authUrl).origin
}

/** The fields of a form that one of our pages posted. */
export const readForm = (settings: Settings) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (!fromOurPage(request, settings)) {
      return yield* new Forbidden({ reason: `This form did not come from a page of ${new URL(settings.authUrl).host}` })
    }
    return new URLSearchParams(yield* request.text)
  })
