import { Accounts } from "#src/accounts/Accounts.ts"
import { type Actor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { mcpScopesIn } from "#src/oauth/scopes/mcp-scopes.ts"
import {
  apiResource,
  compositeResource,
  grantedScopes,
  platformResources
} from "#src/oauth/scopes/platform-resource.ts"
import { traced } from "#src/shared/traced.ts"
import { Effect, Option } from "effect"
import { AccessTokens, InvalidToken } from "./AccessTokens.ts"

/** Access tokens of our own authorization server as credentials for our own MCP endpoint and our API. */
export class PlatformTokens extends Effect.Service<PlatformTokens>()("oauth/PlatformTokens", {
  effect: Effect.gen(function*() {
    const tokens = yield* AccessTokens
    const accounts = yield* Accounts
    const settings = yield* CurrentSettings
    const api = apiResource(settings)
    const everywhere = [...Object.values(platformResources(settings)), api]

    /**
     * The user of an access token for our API, which our MCP endpoint takes, too; or, with the `path` of a request to that,
     * for the MCP endpoint or the composite whose endpoint the path is. None when the token is invalid there or the user
     * is gone. A token for a composite has no scopes of the platform.
     */
    const authenticate = traced("PlatformTokens.authenticate")(
      function*(token: string, path?: string) {
        const composite = path === undefined ? undefined : compositeResource(settings, path)
        const { aud, client_id, fam, pub = false, scope, sub } = yield* tokens.verify(
          token,
          path === undefined ? [api] : composite === undefined ? everywhere : [...everywhere, composite]
        )
        if (fam === undefined) return yield* new InvalidToken({ reason: "it came of no authorization" })
        const user = yield* accounts.find(sub)
        return Option.map(user, ({ email, id, plan }): Actor => ({
          accountId: id,
          email,
          plan,
          credential: aud === composite
            ? {
              kind: "oauth",
              id: client_id,
              familyId: fam,
              scopes: new Set(),
              compositeScope: [...mcpScopesIn(scope)].join(" "),
              forEverybody: pub
            }
            : { kind: "oauth", id: client_id, familyId: fam, scopes: grantedScopes(scope) }
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
