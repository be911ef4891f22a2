/**
 * The gateway behind the listener of `berth serve`, for one server: routing, token, month's limit and metering are the
 * real ones. The database is not there, unless its URL is given beside the account's plan: then usage is in it. Says its
 * port and a token.
 */
import { listen } from "#http/front/listen.ts"
import { makeGateway } from "#http/gateway/Gateway.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { Shutdown } from "#src/shared/Shutdown.ts"
import { Effect, Schema } from "effect"
import { freePort } from "../../support/http.ts"
import { gatewayServices, resourceOf, routesTo } from "./services.ts"

const [socketPath = "", plan = "enterprise", databaseUrl] = process.argv.slice(2)
const port = await freePort()

const program = Effect.gen(function*() {
  const gateway = yield* Effect.provide(makeGateway, routesTo(socketPath, Schema.decodeUnknownSync(PlanName)(plan)))
  const settings = yield* CurrentSettings
  const { mint } = yield* AccessTokens
  yield* listen(settings, gateway, (_, res) => void res.writeHead(404).end())
  const audience = resourceOf(settings)
  const minted = yield* mint({
    accountId: "account",
    audience,
    scope: allMcpScopes,
    clientId: "bench",
    serverId: "srv"
  })
  process.send?.({ port, token: minted.token })
  yield* Effect.never
})

process.on("SIGTERM", () => process.exit())
process.on("disconnect", () => process.exit())
await Effect.runPromise(
  Effect.scoped(
    Effect.provide(Effect.provide(program, Shutdown.Default), gatewayServices({ PORT: String(port) }, databaseUrl))
  )
)
