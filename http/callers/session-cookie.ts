import { type Settings } from "#src/config/Settings.ts"
import { HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { cookieName } from "./caller.ts"

/** The answer with the session as a cookie, or with the cookie's end when there is none. */
export const withSession = (
  settings: Settings,
  session: { readonly token: string; readonly expiresAt: Date } | undefined
) =>
(response: HttpServerResponse.HttpServerResponse) =>
  Effect.orDie(HttpServerResponse.setCookie(response, cookieName(settings), session?.token ?? "", {
    httpOnly: true,
    sameSite: "lax",
    path: "/",
    secure: settings.baseUrl.startsWith("https:"),
    expires: session?.expiresAt ?? new Date(0)
  }))
