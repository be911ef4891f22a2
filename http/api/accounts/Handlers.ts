import { Data, data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { withSession } from "#http/callers/session-cookie.ts"
import { Accounts } from "#src/accounts/Accounts.ts"
import { Session } from "#src/accounts/User.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect, Schema } from "effect"
import { AccountsApi } from "./Api.ts"

const body = Schema.encodeSync(Data(Session))

export const AccountsHandlers = HttpApiBuilder.group(
  apiOf(AccountsApi),
  "accounts",
  (handlers) =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const settings = yield* CurrentSettings
      const opened = (status: number) => (session: typeof Session.Type) =>
        withSession(settings, session)(HttpServerResponse.unsafeJson(body(data(session)), { status }))
      const closed = withSession(settings, undefined)(HttpServerResponse.empty({ status: 204 }))

      return handlers
        .handle(
          "signUp",
          ({ payload }) => Effect.flatMap(accounts.signUp(payload), opened(201))
        )
        .handle(
          "logIn",
          ({ payload }) => Effect.flatMap(accounts.logIn(payload), opened(200))
        )
        .handle("logOut", () => Effect.zipRight(accounts.logOut, closed))
        .handle("me", () => Effect.map(accounts.me, data))
    })
)
