/**
 * The gateway behind the listener of `berth serve`, for one server: routing, token, month's limit and metering are the
 * real ones, the database is not there. Says its port and a token.
 */
import { listen } from "#http/front/listen.ts"
import { makeGateway } from "#http/gateway/Gateway.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { Shutdown } from "#src/shared/Shutdown.ts"
import { Effect } from "effect"
import { freePort } from "../../support/http.ts"
import { gatewayServices, resourceOf, routesTo } from "./services.ts"

const socketPath = process.argv[2]!
const port = await freePort()

const program = Effect.gen(function*() {
  const gateway = yield* Effect.provide(makeGateway, routesTo(socketPath))
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
  Effect.scoped(Effect.provide(Effect.provide(program, Shutdown.Default), gatewayServices({ PORT: String(port) })))
)
