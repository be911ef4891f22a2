import { type Settings } from "#src/config/Settings.ts"
import { HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { cookieName } from "./caller.ts"

/** Sets the session cookie on a response, or deletes it when there is no session. */
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
