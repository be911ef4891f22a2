import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { graceMillis } from "#src/oauth/checks/rotation.ts"
import { Introspection } from "#src/oauth/Introspection.ts"
import { Revocation } from "#src/oauth/Revocation.ts"
import { Tokens } from "#src/oauth/Tokens.ts"
import { randomToken } from "#src/shared/tokens.ts"
import { SqlClient } from "@effect/sql"
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Option, TestClock } from "effect"
import { newAccount, newServer } from "../gateway/support.ts"
import {
  authorizationTest,
  authorized,
  type Fields,
  form,
  issue,
  issuer,
  newClient,
  newPkce,
  refreshing,
  refusal,
  scope,
  web
} from "./support/authorization.ts"

const fresh = Effect.fnUntraced(function*(asked: { readonly scope?: string; readonly clientId?: string } = {}) {
  const server = yield* newServer()
  const userId = yield* newAccount()
  return { server, userId, ...(yield* authorized({ userId, resource: server.resource, ...asked })) }
})

/** As `fresh`, with the tokens that came of it. */
const issued = Effect.fnUntraced(function*(asked: Parameters<typeof fresh>[0] = {}) {
  const made = yield* fresh(asked)
  return { ...made, tokens: yield* issue(made.exchange) }
})

/** Whether the server that a token is for finds it active. */
const isActive = Effect.fnUntraced(function*(serverId: string, token: string) {
  const sql = yield* SqlClient.SqlClient
  const introspection = yield* Introspection
  const replayToken = randomToken()
  yield* sql`UPDATE servers SET replay_token = ${replayToken} WHERE id = ${serverId}`
  const machine = Option.getOrThrow(yield* introspection.authenticate(replayToken))
  return (yield* introspection.introspect(machine, form({ token }))).active
})

layer(authorizationTest)((it) => {
  describe("[6] a code", () => {
    it.effect("is exchanged for an access token of 15 minutes, for the resource and its scopes", () =>
      Effect.gen(function*() {
        const { clientId, server, tokens, userId } = yield* issued()
        expect(tokens).toEqual({
          access_token: expect.any(String),
          token_type: "Bearer",
          expires_in: 900,
          refresh_token: expect.stringMatching(/^berth_rt_[\w-]{43}$/),
          scope
        })
        const claims = yield* (yield* AccessTokens).verify(tokens.access_token, [server.audience])
        expect(claims).toMatchObject({ iss: issuer, aud: server.audience, sub: userId, client_id: clientId, scope })
        expect(claims.exp - claims.iat).toBe(900)
      }))

    it.effect("is good once: a replay revokes what was issued from it", () =>
      Effect.gen(function*() {
        const { clientId, exchange, server, tokens } = yield* issued()
        expect(yield* isActive(server.id, tokens.access_token)).toBe(true)
        expect(yield* refusal(exchange)).toBe("invalid_grant")
        expect(yield* refusal(refreshing(clientId, tokens.refresh_token))).toBe("invalid_grant")
        expect(yield* isActive(server.id, tokens.access_token)).toBe(false)
      }))

    it.effect("is good for one of many that come at once", () =>
      Effect.gen(function*() {
        const { exchange } = yield* fresh()
        const answers = yield* Effect.all(Array.from({ length: 8 }, () => Effect.either(issue(exchange))), {
          concurrency: "unbounded"
        })
        expect(answers.filter(({ _tag }) => _tag === "Right")).toHaveLength(1)
      }))

    it.effect("is not used up by a request that fails", () =>
      Effect.gen(function*() {
        const { exchange } = yield* fresh()
        const other = yield* newServer()
        const wrong: ReadonlyArray<readonly [Fields, string]> = [
          [{ code_verifier: newPkce().verifier }, "invalid_grant"],
          [{ code_verifier: "short" }, "invalid_grant"],
          [{ code_verifier: undefined }, "invalid_request"],
          [{ redirect_uri: `${web}/` }, "invalid_grant"],
          [{ redirect_uri: undefined }, "invalid_request"],
          [{ client_id: yield* newClient() }, "invalid_grant"],
          [{ client_id: "nobody" }, "invalid_client"],
          [{ client_id: undefined }, "invalid_request"],
          [{ code: "another" }, "invalid_grant"],
          [{ code: undefined }, "invalid_request"],
          [{ resource: other.resource }, "invalid_target"],
          [{ resource: "nothing" }, "invalid_target"],
          [{ grant_type: undefined }, "invalid_request"],
          [{ grant_type: "password" }, "unsupported_grant_type"],
          [{ grant_type: "client_credentials" }, "unsupported_grant_type"],
          [{ client_secret: "x" }, "invalid_client"],
          [{ client_assertion: "x" }, "invalid_client"]
        ]
        for (const [fields, error] of wrong) {
          expect(yield* refusal({ ...exchange, ...fields }), JSON.stringify(fields)).toEqual(error)
        }
        expect(yield* issue(exchange)).toMatchObject({ token_type: "Bearer" })
      }))

    it.effect("lives five minutes", () =>
      Effect.gen(function*() {
        const [one, two] = [yield* fresh(), yield* fresh()]
        yield* TestClock.adjust("299 seconds")
        yield* issue(one.exchange)
        yield* TestClock.adjust("1 second")
        expect(yield* refusal(two.exchange)).toBe("invalid_grant")
      }))

    it.effect("[5] wants the redirect_uri of the authorization, port included", () =>
      Effect.gen(function*() {
        const clientId = yield* newClient(["http://localhost/callback"])
        const { resource } = yield* newServer()
        const { exchange } = yield* authorized({
          clientId,
          resource,
          userId: yield* newAccount(),
          redirectUri: "http://localhost:4000/callback"
        })
        for (const redirect_uri of ["http://localhost/callback", "http://localhost:4001/callback"]) {
          expect(yield* refusal({ ...exchange, redirect_uri })).toBe("invalid_grant")
        }
        yield* issue(exchange)
      }))

    it.effect("[7] may leave out the resource, or write it differently, but not swap it", () =>
      Effect.gen(function*() {
        const [one, two] = [yield* fresh(), yield* fresh()]
        const other = yield* newServer({ accountId: two.server.accountId })
        yield* issue({ ...one.exchange, resource: undefined })
        const both = form(two.exchange)
        both.append("resource", other.resource)
        const error = yield* Effect.flip(Effect.flatMap(Tokens, (tokens) => tokens.issue(both)))
        expect(error.error).toBe("invalid_target")
        yield* issue({ ...two.exchange, resource: `${two.server.resource.replace("berth", "BERTH")}/` })
      }))

    it.effect("[7] is exchanged and refreshed by either URL of the server it was asked for by, for its one audience", () =>
      Effect.gen(function*() {
        const tokens = yield* AccessTokens
        const server = yield* newServer()
        const forms = [server.resource, server.audience, `${server.resource}/mcp`]
        for (const resource of forms) {
          for (const exchanged of forms) {
            const { clientId, exchange } = yield* authorized({ userId: yield* newAccount(), resource })
            const first = yield* issue({ ...exchange, resource: exchanged })
            const next = yield* issue(refreshing(clientId, first.refresh_token, { resource }))
            for (const { access_token } of [first, next]) {
              expect((yield* tokens.verify(access_token, [server.audience], server.id)).aud).toBe(server.audience)
            }
          }
        }
      }))

    it.effect("[7] that was granted at another URL of the server goes on, for the audience of today", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const tokens = yield* AccessTokens
        for (const was of ["path", "former"] as const) {
          const { clientId, exchange, server, tokens: before } = yield* issued()
          const resource = was === "path" ? server.resource : "https://former.example/s/x"
          for (const table of ["authorization_codes", "refresh_tokens", "oauth_grants"]) {
            yield* sql`UPDATE ${sql(table)} SET resource = ${resource} WHERE client_id = ${clientId}`
          }
          const after = yield* issue(refreshing(clientId, before.refresh_token, { resource: exchange.resource }))
          expect((yield* tokens.verify(after.access_token, [server.audience], server.id)).aud).toBe(server.audience)
          const other = yield* newServer()
          expect(yield* refusal(refreshing(clientId, after.refresh_token, { resource: other.resource }))).toBe(
            "invalid_target"
          )
        }
      }))

    it.effect("[8] with a parameter there twice is refused, and still good", () =>
      Effect.gen(function*() {
        const { exchange } = yield* fresh()
        for (const name of ["code", "client_id", "grant_type", "code_verifier", "redirect_uri", "unknown"]) {
          const twice = form(exchange)
          twice.append(name, "x")
          if (name === "unknown") twice.append(name, "x")
          const error = yield* Effect.flip(Effect.flatMap(Tokens, (tokens) => tokens.issue(twice)))
          expect(error.error, name).toBe("invalid_request")
        }
        yield* issue(exchange)
      }))

    it.effect("gives no refresh token without offline_access to a client that registered for codes alone", () =>
      Effect.gen(function*() {
        const { tokens } = yield* issued({ scope: "mcp:read" })
        expect(tokens).not.toHaveProperty("refresh_token")
        expect(tokens.scope).toBe("mcp:read")
      }))

    it.effect("gives one to a client that registered to refresh, and says so in the scope it grants", () =>
      Effect.gen(function*() {
        const clientId = yield* newClient([web], { grant_types: ["authorization_code", "refresh_token"] })
        const { tokens } = yield* issued({ scope: "mcp:read", clientId })
        expect(tokens).toMatchObject({ refresh_token: expect.any(String), scope: "mcp:read offline_access" })
        // The scopes of a 401's challenge are fewer: they narrow this access token, and not the grant.
        const narrow = yield* issue(refreshing(clientId, tokens.refresh_token, { scope: "mcp:read" }))
        expect(narrow).toMatchObject({ refresh_token: expect.any(String), scope: "mcp:read" })
        const whole = yield* issue(refreshing(clientId, narrow.refresh_token))
        expect(whole.scope).toBe("mcp:read offline_access")
      }))
  })

  describe("[9] a refresh token", () => {
    it.effect("gives a new pair, again and again", () =>
      Effect.gen(function*() {
        const { clientId, server, tokens } = yield* issued()
        const seen = new Set([tokens.refresh_token])
        let last = tokens
        for (let n = 1; n <= 4; n++) {
          yield* TestClock.adjust("20 days")
          last = yield* issue(refreshing(clientId, last.refresh_token))
          yield* (yield* AccessTokens).verify(last.access_token, [server.audience])
          expect([seen.size, last.scope]).toEqual([n, scope])
          seen.add(last.refresh_token)
        }
      }))

    it.effect("lives 30 days", () =>
      Effect.gen(function*() {
        const { clientId, tokens } = yield* issued()
        yield* TestClock.adjust("30 days")
        expect(yield* refusal(refreshing(clientId, tokens.refresh_token))).toBe("invalid_grant")
      }))

    it.effect("that comes again within the grace gives the same successor", () =>
      Effect.gen(function*() {
        const { clientId, tokens } = yield* issued()
        const first = yield* issue(refreshing(clientId, tokens.refresh_token))
        yield* TestClock.adjust(graceMillis)
        const second = yield* issue(refreshing(clientId, tokens.refresh_token))
        expect(second.refresh_token).toBe(first.refresh_token)
        expect(second.access_token).not.toBe(first.access_token)
        yield* issue(refreshing(clientId, first.refresh_token))
      }))

    it.effect("that comes many times at once gives the same successor", () =>
      Effect.gen(function*() {
        const { clientId, tokens } = yield* issued()
        const requests = Array.from({ length: 8 }, () => issue(refreshing(clientId, tokens.refresh_token)))
        const answers = yield* Effect.all(requests, { concurrency: "unbounded" })
        expect(new Set(answers.map((answer) => answer.refresh_token)).size).toBe(1)
      }))

    it.effect("that comes again later revokes the family", () =>
      Effect.gen(function*() {
        const { clientId, server, tokens } = yield* issued()
        const next = yield* issue(refreshing(clientId, tokens.refresh_token))
        yield* TestClock.adjust(graceMillis + 1)
        expect(yield* refusal(refreshing(clientId, tokens.refresh_token))).toBe("invalid_grant")
        expect(yield* refusal(refreshing(clientId, next.refresh_token))).toBe("invalid_grant")
        expect(yield* isActive(server.id, next.access_token)).toBe(false)
      }))

    it.effect("is the client's it was given to, and for its resource; a wrong request does not use it up", () =>
      Effect.gen(function*() {
        const { clientId, tokens } = yield* issued()
        const other = yield* newServer()
        const wrong: ReadonlyArray<readonly [Fields, string]> = [
          [{ client_id: yield* newClient() }, "invalid_grant"],
          [{ client_id: "nobody" }, "invalid_client"],
          [{ client_id: undefined }, "invalid_request"],
          [{ refresh_token: "berth_rt_x" }, "invalid_grant"],
          [{ refresh_token: undefined }, "invalid_request"],
          [{ refresh_token: tokens.access_token }, "invalid_grant"],
          [{ resource: other.resource }, "invalid_target"],
          [{ scope: "mcp:read account" }, "invalid_scope"],
          [{ scope: "\n" }, "invalid_scope"]
        ]
        for (const [fields, error] of wrong) {
          expect(yield* refusal(refreshing(clientId, tokens.refresh_token, fields)), JSON.stringify(fields)).toEqual(
            error
          )
        }
        yield* issue(refreshing(clientId, tokens.refresh_token))
      }))

    it.effect("gives fewer scopes when fewer are asked for, and keeps its own", () =>
      Effect.gen(function*() {
        const { clientId, tokens } = yield* issued({ scope: "mcp:read mcp:write offline_access" })
        const narrow = yield* issue(refreshing(clientId, tokens.refresh_token, { scope: "mcp:read" }))
        expect(narrow.scope).toBe("mcp:read")
        const error = yield* refusal(refreshing(clientId, narrow.refresh_token, { scope: "mcp:execute" }))
        expect(error).toBe("invalid_scope")
        const wide = yield* issue(refreshing(clientId, narrow.refresh_token))
        expect(wide.scope).toBe("mcp:read mcp:write offline_access")
      }))

    it.effect("ends when the server no longer lets its user in, or is gone", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [one, two] = [yield* issued(), yield* issued()]
        yield* sql`UPDATE servers SET access = 'owner' WHERE id = ${one.server.id}`
        expect(yield* refusal(refreshing(one.clientId, one.tokens.refresh_token))).toBe("invalid_grant")
        yield* sql`DELETE FROM servers WHERE id = ${two.server.id}`
        expect(yield* refusal(refreshing(two.clientId, two.tokens.refresh_token))).toBe("invalid_grant")
      }))

    it.effect("is stored in no form from which it could be made", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { clientId, code, tokens } = yield* issued()
        const next = yield* issue(refreshing(clientId, tokens.refresh_token))
        const rows = yield* sql`SELECT row_to_json(r)::text AS row FROM refresh_tokens r
          UNION ALL SELECT row_to_json(c)::text FROM authorization_codes c`
        const dump = JSON.stringify(rows)
        for (const secret of [code, tokens.refresh_token, next.refresh_token]) {
          expect(dump).not.toContain(secret)
          expect(dump).not.toContain(Buffer.from(secret!).toString("hex"))
        }
      }))
  })

  describe("[12] revocation", () => {
    const revoke = (fields: Fields) =>
      Effect.flatMap(Revocation, (revocation) => Effect.either(revocation.revoke(form(fields)))).pipe(
        Effect.map((answer) => answer._tag === "Right" ? "done" : answer.left.error)
      )

    it.effect("of a refresh token or an access token ends both", () =>
      Effect.gen(function*() {
        for (const kind of ["refresh_token", "access_token"] as const) {
          const { clientId, server, tokens } = yield* issued()
          const token = tokens[kind]
          for (const token_type_hint of ["access_token", "nonsense"]) {
            expect(yield* revoke({ client_id: clientId, token, token_type_hint })).toBe("done")
          }
          expect(yield* refusal(refreshing(clientId, tokens.refresh_token))).toBe("invalid_grant")
          expect(yield* isActive(server.id, tokens.access_token)).toBe(false)
        }
      }))

    it.effect("leaves another authorization of the same user and client alone", () =>
      Effect.gen(function*() {
        const { clientId, server, tokens, userId } = yield* issued()
        const { exchange } = yield* authorized({ userId, clientId, resource: server.resource })
        const others = yield* issue(exchange)
        yield* revoke({ client_id: clientId, token: tokens.refresh_token })
        yield* issue(refreshing(clientId, others.refresh_token))
      }))

    it.effect("is the holder's alone, and an unknown token no error", () =>
      Effect.gen(function*() {
        const { clientId, tokens } = yield* issued()
        const other = yield* newClient()
        for (const token of [tokens.refresh_token, tokens.access_token]) {
          expect(yield* revoke({ client_id: other, token })).toBe("invalid_grant")
          expect(yield* revoke({ client_id: "nobody", token })).toBe("invalid_client")
        }
        expect(yield* revoke({ client_id: clientId, token: "unknown" })).toBe("done")
        expect(yield* revoke({ client_id: "nobody", token: "unknown" })).toBe("invalid_client")
        expect(yield* revoke({ client_id: clientId })).toBe("invalid_request")
        expect(yield* revoke({ token: tokens.refresh_token })).toBe("invalid_request")
        yield* issue(refreshing(clientId, tokens.refresh_token))
      }))
  })

  it.effect("what has expired is swept, and what has not is kept", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tokens = yield* Tokens
      const kept = yield* issued()
      const gone = yield* issued({ scope: "mcp:read" })
      // A program on its user's device, whose grant says nothing beside its tokens.
      const program = yield* issued({ scope: "mcp:read" })
      yield* sql`UPDATE oauth_clients SET redirect_uris = ARRAY['http://127.0.0.1/callback', 'http://[::1]:8080/callback']
        WHERE client_id IN ${sql.in([program.clientId, kept.clientId])}`
      yield* sql`UPDATE oauth_grants SET updated_at = now() - interval '25 hours'
        WHERE client_id IN ${sql.in([kept.clientId, gone.clientId, program.clientId])}`
      yield* TestClock.adjust("25 hours")
      yield* tokens.sweep
      const grants = yield* sql`SELECT client_id FROM oauth_grants
        WHERE client_id IN ${sql.in([kept.clientId, gone.clientId, program.clientId])} ORDER BY created_at`
      expect(grants).toEqual([{ clientId: kept.clientId }, { clientId: gone.clientId }])
      const families = yield* sql`SELECT g.client_id FROM token_families f JOIN oauth_grants g ON g.id = f.grant_id
        WHERE g.client_id IN ${sql.in([kept.clientId, gone.clientId, program.clientId])}`
      expect(families).toEqual([{ clientId: kept.clientId }])
      expect(yield* sql`SELECT count(*)::int AS count FROM authorization_codes`).toEqual([{ count: 0 }])
      yield* issue(refreshing(kept.clientId, kept.tokens.refresh_token))
    }))
})
