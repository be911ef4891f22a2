import { Accounts } from "#src/accounts/Accounts.ts"
import { CurrentSettings, type Settings } from "#src/Config.ts"
import { HttpApiBuilder, HttpApp, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { Api } from "../Api.ts"
import { cookieName } from "../caller.ts"
import { data } from "../envelope.ts"
import { CallerAddress } from "../frontDoor.ts"

/** The session as a cookie, or its end when there is none (design: accounts). */
const setCookie = (settings: Settings, session: { token: string; expiresAt: Date } | undefined) =>
  HttpApp.appendPreResponseHandler((_request, response) =>
    Effect.orDie(HttpServerResponse.setCookie(response, cookieName(settings), session?.token ?? "", {
      httpOnly: true,
      sameSite: "lax",
      path: "/",
      secure: settings.baseUrl.startsWith("https:"),
      expires: session?.expiresAt ?? new Date(0)
    }))
  )

export const AccountsHandlers = HttpApiBuilder.group(Api, "accounts", (handlers) =>
  Effect.gen(function*() {
    const accounts = yield* Accounts
    const settings = yield* CurrentSettings
    const opened = <S extends { token: string; expiresAt: Date }>(session: S) =>
      Effect.as(setCookie(settings, session), data(session))

    return handlers
      .handle("signUp", ({ payload }) => Effect.flatMap(accounts.signUp(payload), opened))
      .handle("logIn", ({ payload }) =>
        Effect.flatMap(CallerAddress, (address) =>
          Effect.flatMap(accounts.logIn(payload, address), opened)))
      .handle("logOut", () =>
        Effect.zipRight(accounts.logOut, setCookie(settings, undefined)))
      .handle("me", () => Effect.map(accounts.me, data))
  }))
