import { Accounts } from "#src/accounts/Accounts.ts"
import { type Actor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { grantedScopes, platformResources } from "#src/oauth/scopes/platform-resource.ts"
import { Effect, Option } from "effect"
import { AccessTokens, InvalidToken } from "./AccessTokens.ts"

/** Access tokens of our own authorization server as credentials for our own MCP endpoint. */
export class PlatformTokens extends Effect.Service<PlatformTokens>()("oauth/PlatformTokens", {
  effect: Effect.gen(function*() {
    const tokens = yield* AccessTokens
    const accounts = yield* Accounts
    const audiences = Object.values(platformResources(yield* CurrentSettings))

    /** The user of an access token for our MCP endpoint; none when the token is invalid there or the user is gone. */
    const authenticate = Effect.fn("PlatformTokens.authenticate")(
      function*(token: string) {
        const { client_id, fam, scope, sub } = yield* tokens.verify(token, audiences)
        if (fam === undefined) return yield* new InvalidToken({ reason: "it came of no authorization" })
        const user = yield* accounts.find(sub)
        return Option.map(user, ({ email, id, plan }): Actor => ({
          accountId: id,
          email,
          plan,
          credential: { kind: "oauth", id: client_id, familyId: fam, scopes: grantedScopes(scope) }
        }))
      },
      Effect.catchTag(
        "InvalidToken",
        ({ reason }) => Effect.as(Effect.logDebug(`An access token was refused: ${reason}`), Option.none<Actor>())
      )
    )

    return { authenticate } as const
  })
}) {}
