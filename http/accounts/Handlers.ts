import { Accounts } from "#src/accounts/Accounts.ts"
import { CurrentSettings, type Settings } from "#src/Config.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { HttpApiBuilder, HttpApp } from "@effect/platform"
import { Effect } from "effect"
import { Api } from "../Api.ts"
import { data } from "../envelope.ts"
import { takesNoBody } from "../no-body.ts"
import { withSession } from "./cookie.ts"

const setCookie = (settings: Settings, session: { token: string; expiresAt: Date } | undefined) =>
  HttpApp.appendPreResponseHandler((_request, response) => withSession(settings, session)(response))

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
        takesNoBody(Effect.zipRight(accounts.logOut, setCookie(settings, undefined))))
      .handle("me", () => Effect.map(accounts.me, data))
  }))
