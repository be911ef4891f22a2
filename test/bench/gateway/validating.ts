import { authorizer } from "#http/gateway/authorize.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { Effect } from "effect"
import { type IncomingMessage } from "node:http"
import { gatewayServices, resourceOf, routeTo } from "./services.ts"

/** Microseconds that the gateway's decision on a request's credential costs: of a new token, and of a known one. */
export const validating = () =>
  Effect.runPromise(
    Effect.gen(function*() {
      const audience = resourceOf(yield* CurrentSettings)
      const { mint } = yield* AccessTokens
      const { authorize } = authorizer(yield* AccessTokens, yield* Effect.runtime())
      const route = routeTo("unused", audience)
      const minted = yield* Effect.forEach(
        Array.from({ length: 2_000 }),
        () => mint({ accountId: "a", audience, scope: allMcpScopes, clientId: "bench", serverId: "srv" })
      )
      const deciding = (credentials: ReadonlyArray<string>, times: number) =>
        Effect.promise(async () => {
          const before = process.cpuUsage()
          for (let i = 0; i < times; i++) {
            const authorization = `Bearer ${credentials[i % credentials.length]}`
            const verdict = await authorize(
              { url: "/s/bench/mcp", headers: { authorization } } as IncomingMessage,
              route
            )
            if (verdict._tag === "Rejected") throw new Error(verdict.message)
          }
          const { system, user } = process.cpuUsage(before)
          return (user + system) / times
        })
      const tokens = minted.map(({ token }) => token)
      return { first: yield* deciding(tokens, tokens.length), known: yield* deciding([tokens[0]!], 200_000) }
    }).pipe(Effect.provide(gatewayServices()), Effect.scoped)
  )
