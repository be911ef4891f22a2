import { CurrentCaller } from "#http/callers/caller.ts"
import { type Actor } from "#src/accounts/CurrentActor.ts"
import { type Settings } from "#src/config/Settings.ts"
import { randomToken } from "#src/shared/tokens.ts"
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/** The signed-in visitor of a page. An API key does not count: keys are not for people. */
export const visitor = Effect.map(
  CurrentCaller,
  (caller): Actor | undefined =>
    caller._tag === "Authenticated" && caller.actor.credential.kind === "session" ? caller.actor : undefined
)

const cookieName = ({ authUrl }: Settings) => authUrl.startsWith("https:") ? "__Host-svc_visit" : "svc_visit"

/** The visitor's random cookie, which forms are bound to before there is a session. */
const visitCookie = (settings: Settings) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ cookies }) => {
    const cookie = cookies[cookieName(settings)]
    return cookie !== undefined && /^[\w-]{43}$/.test(cookie) ? cookie : undefined
  })

/** A holder for tickets, and a function that sets its cookie when it is new. */
export const makeVisit = (settings: Settings) =>
  Effect.map(visitCookie(settings), (cookie) => {
    const holder = cookie ?? randomToken()
    const remember = (response: HttpServerResponse.HttpServerResponse) =>
      cookie !== undefined ? Effect.succeed(response) : Effect.orDie(
        HttpServerResponse.setCookie(response, cookieName(settings), holder, {
          httpOnly: true,
          // Not strict: visitors who come from an application would get a new one each time.
          sameSite: "lax",
          path: "/",
          secure: settings.authUrl.startsWith("https:")
        })
      )
    return { holder, remember }
  })
