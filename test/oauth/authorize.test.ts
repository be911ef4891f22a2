import { AccountId, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Authorization } from "#src/oauth/Authorization.ts"
import { OAuthClients } from "#src/oauth/Clients.ts"
import { SqlClient } from "@effect/sql"
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newAccount, newServer } from "../gateway/support.ts"
import {
  answered,
  app,
  authorizationTest,
  authorized,
  type Fields,
  form,
  issuer,
  loopback,
  newClient,
  newPkce,
  scope,
  web
} from "./support/authorization.ts"
import { clientHost } from "./support/client-host.ts"

const examine = (fields: Fields, extra: ReadonlyArray<readonly [string, string]> = []) => {
  const params = form(fields)
  for (const [name, value] of extra) params.append(name, value)
  return Effect.flatMap(Authorization, (authorization) => authorization.examine(params))
}

/** A request in which all is well. */
const good = Effect.fnUntraced(function*(fields: Fields = {}) {
  const { resource } = yield* newServer()
  return {
    response_type: "code",
    client_id: fields["client_id"] ?? (yield* newClient([web, loopback, app])),
    redirect_uri: web,
    resource,
    scope,
    state: "a state",
    code_challenge: newPkce().challenge,
    code_challenge_method: "S256",
    ...fields
  }
})

/** What the client is told of a request. */
const told = (fields: Fields, extra: ReadonlyArray<readonly [string, string]> = []) =>
  Effect.map(
    Effect.flip(examine(fields, extra)),
    (error) => error._tag === "RedirectError" ? answered(error.redirectTo) : expect.fail(`a page: ${error.message}`)
  )

const shown = (fields: Fields, extra: ReadonlyArray<readonly [string, string]> = []) =>
  Effect.map(
    Effect.flip(examine(fields, extra)),
    (error) => error._tag === "PageError" ? error.code : expect.fail(`a redirect to ${error.redirectTo}`)
  )

layer(authorizationTest)((it) => {
  describe("[3] PKCE", () => {
    it.effect("S256 is taken", () =>
      Effect.gen(function*() {
        const request = yield* examine(yield* good())
        expect(request).toMatchObject({ redirectUri: web, state: "a state", trusted: false, scopes: scope.split(" ") })
      }))

    it.effect("missing, without a method, plain or malformed it is refused", () =>
      Effect.gen(function*() {
        const request = yield* good()
        const wrong: ReadonlyArray<Fields> = [
          { code_challenge: undefined },
          { code_challenge_method: undefined },
          { code_challenge_method: "plain" },
          { code_challenge_method: "s256" },
          { code_challenge: "short" },
          { code_challenge: `${request.code_challenge}A` },
          { code_challenge: request.code_challenge.slice(0, -1) + "+" }
        ]
        for (const fields of wrong) {
          expect(yield* told({ ...request, ...fields }), JSON.stringify(fields)).toMatchObject({
            error: "invalid_request"
          })
        }
      }))
  })

  describe("[4] an unknown client or a bad redirect is shown, never redirected", () => {
    it.effect("unknown clients", () =>
      Effect.gen(function*() {
        const request = yield* good()
        for (
          const client_id of ["nobody", "client_01ARZ3NDEKTSV4RRFFQ69G5FAV", "client_", "\u0000", "x".repeat(9000)]
        ) {
          expect(yield* shown({ ...request, client_id })).toBe("client_unknown")
        }
        expect(yield* shown({ ...request, client_id: undefined })).toBe("client_id")
        expect(yield* shown(request, [["client_id", request.client_id]])).toBe("client_id")
      }))

    it.scoped("a metadata document that can't be had", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        expect(yield* shown(yield* good({ client_id: host.newId() }))).toBe("client_metadata")
      }))

    it.effect("redirects that were not registered", () =>
      Effect.gen(function*() {
        const request = yield* good()
        const wrong = [
          `${web}/`,
          `${web}?x=1`,
          `${web}#f`,
          web.toUpperCase(),
          "https://client.example.evil.example/callback",
          "https://client.example@evil.example/callback",
          "http://client.example/callback",
          "http://localhost/other",
          "http://localhost.evil.example:1/callback",
          "com.example.editor:/other",
          "javascript:alert(1)",
          "//client.example/callback",
          "/callback"
        ]
        for (const redirect_uri of wrong) {
          expect(yield* shown({ ...request, redirect_uri }), redirect_uri).toBe("redirect_uri")
        }
        expect(yield* shown({ ...request, redirect_uri: undefined })).toBe("redirect_uri")
        expect(yield* shown(request, [["redirect_uri", web]])).toBe("redirect_uri")
      }))

    it.effect("the port of a loopback redirect is free", () =>
      Effect.gen(function*() {
        const redirect_uri = "http://localhost:49152/callback"
        const request = yield* examine(yield* good({ redirect_uri }))
        expect([request.redirectUri, request.redirectKind]).toEqual([redirect_uri, "loopback"])
      }))
  })

  describe("[7] resource", () => {
    it.effect("either URL of a server, in any writing of scheme and host and with a slash, is that server and its one audience", () =>
      Effect.gen(function*() {
        const server = yield* newServer()
        const host = `http://${server.host}`
        const same = [
          server.resource,
          `${server.resource}/`,
          server.resource.replace("http://berth.test", "HTTP://BERTH.TEST"),
          server.resource.replace("berth.test", "berth.test:80"),
          `${server.resource}/mcp`,
          `${server.resource}/sse`,
          host,
          `${host}/`,
          host.toUpperCase(),
          `${host}/mcp`
        ]
        for (const resource of same) {
          const request = yield* examine(yield* good({ resource }))
          expect(request.resource, resource).toEqual(server.audience)
          expect(request.target).toMatchObject({ kind: "server", serverId: server.id, slug: server.slug })
        }
      }))

    it.effect("anything else is invalid_target", () =>
      Effect.gen(function*() {
        const server = yield* newServer()
        const request = yield* good()
        const wrong = [
          "http://berth.test/s/nobody",
          "http://berth.test",
          "http://berth.test/s/",
          `${server.resource}#f`,
          `${server.resource}#`,
          `${server.resource}?a=b`,
          `${server.resource}/other`,
          `${server.resource}/../${server.slug}`,
          `${server.resource}/%2e%2e/x`,
          server.resource.replace("http:", "https:"),
          server.resource.replace("berth.test", "berth.test:81"),
          server.resource.replace("berth.test", "evil.test"),
          server.resource.replace("http://", "http://user@"),
          server.resource.replace("http://", "http:\\\\"),
          server.resource.replace("http://", "http:"),
          `//berth.test/s/${server.slug}`,
          server.slug,
          server.id,
          `http://${server.host}.evil.test`,
          `http://x.${server.host}`,
          `http://${server.host}:81`,
          "urn:x:y",
          "\u0000"
        ]
        for (const resource of wrong) {
          expect((yield* told({ ...request, resource }))["error"], resource).toBe("invalid_target")
        }
        expect((yield* told({ ...request, resource: undefined }))["error"]).toBe("invalid_target")
        expect((yield* told(request, [["resource", server.resource]]))["error"]).toBe("invalid_target")
      }))

    it.effect("a server with an authorization server of its own is no target", () =>
      Effect.gen(function*() {
        const url = "https://idp.example"
        const byoa = { issuer: url, jwksUri: url, authorizationEndpoint: url, tokenEndpoint: url }
        const { resource } = yield* newServer({ byoa })
        expect((yield* told(yield* good({ resource })))["error"]).toBe("invalid_target")
      }))

    it.scoped("left out, it is the one server that the client is registered for, and none of several", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const server = yield* newServer()
        const client_id = host.newId()
        host.serve(host.document(client_id))
        const clients = yield* OAuthClients
        const register = (serverId: string) =>
          clients.preRegister(serverId, { clientMetadataUrl: client_id }).pipe(
            Effect.provideService(CurrentActor, {
              accountId: AccountId.make(server.accountId),
              email: "",
              plan: "free",
              credential: { kind: "session", id: "s", expiresAt: new Date(8e15) }
            })
          )
        yield* register(server.id)
        const request = yield* good({ client_id, resource: undefined })
        expect((yield* examine(request)).target).toMatchObject({ serverId: server.id })
        yield* register((yield* newServer({ accountId: server.accountId })).id)
        expect((yield* told(request))["error"]).toBe("invalid_target")
      }))

    it.effect("our own MCP door is one, with the platform's scopes", () =>
      Effect.gen(function*() {
        const request = yield* examine(
          yield* good({ resource: "http://BERTH.test/mcp/", scope: "servers:read account mcp:read offline_access" })
        )
        expect(request).toMatchObject({
          resource: "http://berth.test/mcp",
          target: { kind: "platform" },
          scopes: ["servers:read", "account", "offline_access"]
        })
      }))
  })

  describe("[8] the answer", () => {
    it.effect("carries state once and iss on an error", () =>
      Effect.gen(function*() {
        const params = yield* told(yield* good({ scope: "admin" }))
        expect(params).toEqual({
          error: "invalid_scope",
          error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
          state: "a state",
          iss: issuer
        })
      }))

    it.effect("carries state once and iss on success, whatever the redirect's own query holds", () =>
      Effect.gen(function*() {
        const redirect_uri = "https://client.example/callback?tenant=a%20b&state=mine&code=x&iss=evil"
        const client_id = yield* newClient([redirect_uri])
        const authorization = yield* Authorization
        const state = "\" \u2028&=%#ü"
        const request = yield* examine(yield* good({ client_id, redirect_uri, state }))
        const url = new URL(yield* authorization.approve(request, yield* newAccount(), request.scopes))
        expect([...url.searchParams]).toEqual([
          ["tenant", "a b"],
          ["code", expect.stringMatching(/^[\w-]{43}$/)],
          ["state", state],
          ["iss", issuer]
        ])
        expect(url.search).toMatch(/^\?tenant=a%20b&/)
      }))

    it.effect("carries no state when none was sent", () =>
      Effect.gen(function*() {
        const authorization = yield* Authorization
        const request = yield* examine(yield* good({ state: undefined, redirect_uri: app }))
        expect(answered(authorization.deny(request))).toEqual({
          error: "access_denied",
          error_description: expect.any(String),
          iss: issuer
        })
      }))

    it.effect("to any parameter that is there twice is invalid_request", () =>
      Effect.gen(function*() {
        const request = yield* good()
        for (const name of ["response_type", "scope", "code_challenge", "code_challenge_method", "state", "unknown"]) {
          const params = yield* told(request, [[name, "x"], [name, "x"]])
          expect(params, name).toMatchObject({ error: "invalid_request", iss: issuer })
          expect("state" in params).toBe(name !== "state")
        }
      }))

    it.effect("to what we don't do names it", () =>
      Effect.gen(function*() {
        const request = yield* good()
        const error = (fields: Fields) => Effect.map(told({ ...request, ...fields }), (params) => params["error"])
        expect(yield* error({ response_type: "token" })).toBe("unsupported_response_type")
        expect(yield* error({ response_mode: "fragment" })).toBe("invalid_request")
        expect(yield* error({ scope: "admin" })).toBe("invalid_scope")
        expect(yield* error({ scope: "offline_access" })).toBe("invalid_scope")
        expect(yield* error({ scope: "mcp:read\n" })).toBe("invalid_scope")
        expect(yield* error({ scope: "\"" })).toBe("invalid_scope")
      }))
  })

  describe("scopes", () => {
    it.effect("unknown ones are left out, and none is the resource's own", () =>
      Effect.gen(function*() {
        const request = yield* good()
        const scopes = (scope: string | undefined) => Effect.map(examine({ ...request, scope }), ({ scopes }) => scopes)
        expect(yield* scopes("openid mcp:read servers:read mcp:read")).toEqual(["mcp:read"])
        expect(yield* scopes(undefined)).toEqual(["mcp:read", "mcp:write", "mcp:execute"])
        const client_id = yield* newClient([web], { scope: "mcp:read offline_access" })
        expect((yield* examine({ ...request, client_id, scope: undefined })).scopes).toEqual([
          "mcp:read",
          "offline_access"
        ])
      }))
  })

  describe("refresh tokens", () => {
    const grant_types = ["authorization_code", "refresh_token"]

    it.effect("are among what a client asks for that registered to refresh, whether it says so or not", () =>
      Effect.gen(function*() {
        const request = yield* good({ client_id: yield* newClient([web], { grant_types }) })
        const scopes = (scope: string | undefined) => Effect.map(examine({ ...request, scope }), ({ scopes }) => scopes)
        // As the 401 of a hosted server names them.
        expect(yield* scopes("mcp:execute mcp:write mcp:read")).toEqual(scope.split(" "))
        expect(yield* scopes("mcp:read")).toEqual(["mcp:read", "offline_access"])
        expect(yield* scopes("mcp:read offline_access")).toEqual(["mcp:read", "offline_access"])
        expect(yield* scopes(undefined)).toEqual(scope.split(" "))
        expect((yield* told({ ...request, scope: "unknown" }))["error"]).toBe("invalid_scope")
      }))

    it.scoped("are asked for by whom its document says so, and no longer when it does not", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const client_id = host.newId()
        const request = yield* good({ client_id, scope: "mcp:read" })
        const serve = (fields: object) =>
          host.serve(host.document(client_id, { ...fields }), { "cache-control": "no-store" })
        serve({ grant_types })
        expect((yield* examine(request)).scopes).toEqual(["mcp:read", "offline_access"])
        serve({ grant_types: ["authorization_code"] })
        expect((yield* examine(request)).scopes).toEqual(["mcp:read"])
      }))

    it.scoped("are something to consent to: who did before the client refreshed is asked once more", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const client_id = host.newId()
        const user = yield* newAccount()
        const authorization = yield* Authorization
        const request = yield* good({ client_id, scope: "mcp:read" })
        const needed = Effect.flatMap(examine(request), (found) => authorization.consentNeeded(found, user))
        const approve = Effect.flatMap(examine(request), (found) => authorization.approve(found, user, found.scopes))
        const serve = (fields: object) =>
          host.serve(host.document(client_id, { ...fields }), { "cache-control": "no-store" })
        serve({})
        yield* approve
        expect(yield* needed).toBe(false)
        serve({ grant_types })
        expect(yield* needed).toBe(true)
        yield* approve
        expect(yield* needed).toBe(false)
      }))
  })

  describe("[10] consent", () => {
    const needed = (fields: Fields, userId: string) =>
      Effect.gen(function*() {
        const authorization = yield* Authorization
        return yield* authorization.consentNeeded(yield* examine(fields), userId)
      })
    const approve = (fields: Fields, userId: string) =>
      Effect.gen(function*() {
        const authorization = yield* Authorization
        const request = yield* examine(fields)
        return answered(yield* authorization.approve(request, userId, request.scopes))
      })

    it.effect("is remembered for the same user, client, resource and scopes, and nothing else", () =>
      Effect.gen(function*() {
        const [user, other] = [yield* newAccount(), yield* newAccount()]
        const request = yield* good({ scope: "mcp:read mcp:write" })
        expect(yield* needed(request, user)).toBe(true)
        yield* approve(request, user)
        expect(yield* needed(request, user)).toBe(false)
        expect(yield* needed({ ...request, scope: "mcp:read" }, user)).toBe(false)
        expect(yield* needed({ ...request, scope: "mcp:read mcp:execute" }, user)).toBe(true)
        expect(yield* needed({ ...request, scope: "mcp:read offline_access" }, user)).toBe(true)
        expect(yield* needed({ ...request, resource: (yield* newServer()).resource }, user)).toBe(true)
        expect(yield* needed(request, other)).toBe(true)
      }))

    it.effect("is for the server: at whichever of its URLs it was given, and when that is one of before", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const user = yield* newAccount()
        const server = yield* newServer()
        const asked = yield* good({ resource: server.resource, scope: "mcp:read" })
        yield* approve(asked, user)
        for (const was of [server.audience, server.resource, "https://former.example/s/x"]) {
          yield* sql`UPDATE oauth_grants SET resource = ${was} WHERE user_id = ${user}`
          for (const resource of [server.resource, server.audience]) {
            expect(yield* needed({ ...asked, resource }, user)).toBe(false)
            yield* approve({ ...asked, resource }, user)
          }
          const grants = yield* sql`SELECT FROM oauth_grants WHERE user_id = ${user}`
          expect(grants.length, was).toBe(1)
        }
        yield* sql`UPDATE oauth_grants SET revoked_at = now() WHERE user_id = ${user}`
        expect(yield* needed(asked, user)).toBe(true)
      }))

    it.effect("confused deputy: a second client is asked for, whatever the first was granted", () =>
      Effect.gen(function*() {
        const user = yield* newAccount()
        const request = yield* good()
        yield* approve(request, user)
        expect(yield* needed({ ...request, client_id: yield* newClient() }, user)).toBe(true)
      }))

    it.effect("to a program or app on the user's device is asked for each time", () =>
      Effect.gen(function*() {
        const user = yield* newAccount()
        for (const redirect_uri of [loopback, "http://localhost:7/callback", app]) {
          const request = yield* good({ redirect_uri })
          yield* approve(request, user)
          expect(yield* needed(request, user), redirect_uri).toBe(true)
        }
      }))

    it.scoped("is not needed for a client that the server's owner registered, unless it is on the user's device", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const client_id = host.newId()
        const [server, other, user] = [yield* newServer(), yield* newServer(), yield* newAccount()]
        host.serve(host.document(client_id), { "cache-control": "no-store" })
        const request = yield* good({ client_id, resource: server.resource })
        const sql = yield* SqlClient.SqlClient
        yield* examine(request)
        yield* sql`INSERT INTO server_clients ${sql.insert({ serverId: server.id, clientId: client_id })}`
        expect((yield* examine(request)).trusted).toBe(true)
        expect(yield* needed(request, user)).toBe(false)
        const device = { ...request, redirect_uri: loopback }
        expect([(yield* examine(device)).trusted, yield* needed(device, user)]).toEqual([false, true])
        expect(yield* needed({ ...request, resource: other.resource }, user)).toBe(true)
        // It has a grant now, and then becomes another.
        yield* approve(request, user)
        host.serve(host.document(client_id, { redirect_uris: [web] }), { "cache-control": "no-store" })
        expect(yield* needed(request, user)).toBe(true)
      }))

    it.scoped("[18] is asked for again when the client's redirects change, and not when their order does", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const client_id = host.newId()
        const user = yield* newAccount()
        const serve = (redirect_uris: ReadonlyArray<string>) =>
          host.serve(host.document(client_id, { redirect_uris }), { "cache-control": "no-store" })
        serve([web, loopback])
        const request = yield* good({ client_id })
        yield* approve(request, user)
        serve([loopback, web])
        expect(yield* needed(request, user)).toBe(false)
        serve([web, loopback, "https://other.example/"])
        expect(yield* needed(request, user)).toBe(true)
        yield* approve(request, user)
        expect(yield* needed(request, user)).toBe(false)
      }))

    it.scoped("makes a client one that its user may be sent to unasked, until it is revoked or the client changes", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const client_id = host.newId()
        const [user, other] = [yield* newAccount(), yield* newAccount()]
        const sql = yield* SqlClient.SqlClient
        const authorization = yield* Authorization
        const serve = (redirect_uris: ReadonlyArray<string>) =>
          host.serve(host.document(client_id, { redirect_uris }), { "cache-control": "no-store" })
        serve([web])
        const request = yield* good({ client_id })
        const trusts = (userId: string) =>
          Effect.flatMap(examine(request), ({ client }) => authorization.trusts(userId, client))
        expect(yield* trusts(user)).toBe(false)
        yield* approve(request, user)
        expect([yield* trusts(user), yield* trusts(other)]).toEqual([true, false])
        serve([web, loopback])
        expect(yield* trusts(user)).toBe(false)
        yield* approve(request, user)
        expect(yield* trusts(user)).toBe(true)
        yield* sql`UPDATE oauth_grants SET revoked_at = now() WHERE user_id = ${user}`
        expect(yield* trusts(user)).toBe(false)
      }))

    it.effect("to fewer scopes grants fewer, and to none nothing", () =>
      Effect.gen(function*() {
        const user = yield* newAccount()
        const authorization = yield* Authorization
        const sql = yield* SqlClient.SqlClient
        const request = yield* examine(yield* good())
        const none = yield* authorization.approve(request, user, ["offline_access", "servers:write"])
        expect(answered(none)).toMatchObject({ error: "access_denied", iss: issuer })
        yield* authorization.approve(request, user, ["mcp:read", "servers:write"])
        expect(yield* sql`SELECT scopes FROM oauth_grants WHERE user_id = ${user}`).toEqual([{ scopes: ["mcp:read"] }])
      }))

    it.effect("access public, owner and list decide who may give it", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const authorization = yield* Authorization
        const server = yield* newServer()
        const [listed, stranger] = [yield* newAccount(), yield* newAccount()]
        const fields = yield* good({ resource: server.resource })
        const errors = (access: string) =>
          Effect.gen(function*() {
            const allowedEmails = [`${listed}@example.com`.toLowerCase()]
            yield* sql`UPDATE servers SET ${sql.update({ access, allowedEmails })} WHERE id = ${server.id}`
            const request = yield* examine(fields)
            return yield* Effect.forEach([server.accountId, listed, stranger], (accountId) =>
              Effect.gen(function*() {
                const admission = yield* authorization.admissionOf(request, accountId)
                const answer = answered(yield* authorization.approve(request, accountId, request.scopes))
                expect("code" in answer).toBe(admission === "admitted")
                return answer["error"] ?? "none"
              }))
          })
        yield* sql`UPDATE users SET email = lower(email)`
        expect(yield* errors("public")).toEqual(["none", "none", "none"])
        expect(yield* errors("owner")).toEqual(["none", "access_denied", "access_denied"])
        expect(yield* errors("list")).toEqual(["none", "access_denied", "access_denied"])
        yield* sql`UPDATE users SET email_verified_at = now()`
        expect(yield* errors("list")).toEqual(["none", "none", "access_denied"])
      }))
  })

  it.effect("an approval by a user that is no more leads to access_denied", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const user = yield* newAccount()
      const { resource } = yield* newServer()
      yield* sql`DELETE FROM users WHERE id = ${user}`
      expect((yield* authorized({ userId: user, resource })).code).toBe("")
    }))
})
