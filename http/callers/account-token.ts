import { Accounts, sessionPrefix } from "#src/accounts/Accounts.ts"
import { PlatformTokens } from "#src/oauth/PlatformTokens.ts"
import { ApiKeys } from "#src/projects/ApiKeys.ts"
import { Effect } from "effect"

/**
 * Makes the function that identifies the account of a session token, an API key or an access token; with the path of a
 * request to our MCP endpoint, as that takes them. The three differ in form; only JWTs contain a dot.
 */
export const makeByAccountToken = Effect.gen(function*() {
  const accounts = yield* Accounts
  const keys = yield* ApiKeys
  const tokens = yield* PlatformTokens
  return (token: string, mcpPath?: string) => {
    if (token.startsWith(sessionPrefix)) return accounts.authenticate(token)
    return token.includes(".") ? tokens.authenticate(token, mcpPath) : keys.authenticate(token)
  }
})
