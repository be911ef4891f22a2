import { AccountId, type Actor, CurrentActor, type Scope } from "#src/accounts/CurrentActor.ts"
import { Quotas } from "#src/accounts/Quotas.ts"
import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { TestTokens } from "#src/oauth/TestTokens.ts"
import { Projects } from "#src/projects/Projects.ts"
import { ProjectsRepo } from "#src/projects/ProjectsRepo.ts"
import { RegistriesLive } from "#src/registries/Live.ts"
import { Servers } from "#src/servers/Servers.ts"
import { ServersRepo } from "#src/servers/ServersRepo.ts"
import { describe as failureOf } from "#src/shared/Failure.ts"
import { PlatformEvents } from "#src/shared/PlatformEvents.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { gatewayServices, newAccount, newServer } from "../gateway/support.ts"

const context = TestTokens.Default.pipe(
  Layer.provide(Servers.Default),
  Layer.provide(Projects.Default),
  Layer.provide([
    ProjectsRepo.Default,
    ServersRepo.Default,
    Quotas.Default,
    PlatformEvents.Default,
    Layer.provide(RegistriesLive, [Quotas.Default, Secrets.Default])
  ]),
  Layer.provideMerge(gatewayServices())
)

const session = (accountId: string): Actor => ({
  accountId: AccountId.make(accountId),
  email: "a@example.com",
  plan: "free",
  credential: { kind: "session", id: "ses_1", expiresAt: new Date(8e15) }
})
const create = (actor: Actor, serverId: string) =>
  Effect.flatMap(TestTokens, (tokens) => tokens.createTestToken(serverId)).pipe(
    Effect.provideService(CurrentActor, actor)
  )
const byoa = {
  issuer: "https://idp.example",
  jwksUri: "https://idp.example/jwks",
  authorizationEndpoint: "https://idp.example/authorize",
  tokenEndpoint: "https://idp.example/token"
}

layer(context)("a test token", (it) => {
  it.effect("is for the public URL of the owner's server, with every MCP scope", () =>
    Effect.gen(function*() {
      const server = yield* newServer()
      const { accessToken } = yield* create(session(server.accountId), server.id)
      const claims = yield* (yield* AccessTokens).verify(accessToken, [`http://${server.host}`])
      assert.strictEqual(claims.sub, server.accountId)
      assert.strictEqual(claims.scope, "mcp:read mcp:write mcp:execute")
    }))

  it.effect("is not made for a server of somebody else, nor for one that is not there", () =>
    Effect.gen(function*() {
      const server = yield* newServer()
      const stranger = session(yield* newAccount())
      for (const id of [server.id, "srv_00000000000000000000000000", "x", ""]) {
        assert.strictEqual(failureOf(yield* Effect.flip(create(stranger, id)))?.status, 404)
      }
    }))

  it.effect("needs the scope servers:write of a key, and the key's own project", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const server = yield* newServer()
      const [row] = yield* sql<{ readonly projectId: string }>`SELECT project_id FROM servers WHERE id = ${server.id}`
      const key = (projectId: string, ...scopes: ReadonlyArray<Scope>): Actor => ({
        ...session(server.accountId),
        credential: { kind: "key", id: "key_1", projectId, environment: "live", scopes: new Set(scopes) }
      })
      const status = (actor: Actor) =>
        Effect.map(Effect.either(create(actor, server.id)), (result) =>
          result._tag === "Right" ? 201 : failureOf(result.left)?.status)
      assert.strictEqual(yield* status(key(row!.projectId, "servers:write")), 201)
      assert.strictEqual(yield* status(key(row!.projectId, "servers:read", "deployments:write")), 403)
      assert.strictEqual(yield* status(key("prj_other", "servers:write")), 404)
    }))

  it.effect("of a byoa server comes from its own authorization server (409)", () =>
    Effect.gen(function*() {
      const server = yield* newServer({ byoa })
      const failure = failureOf(yield* Effect.flip(create(session(server.accountId), server.id)))
      assert.strictEqual(failure?.status, 409)
      assert.strictEqual(failure?.code, "CONFLICT")
      assert.include(failure?.message, "https://idp.example")
    }))
})
