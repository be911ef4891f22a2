import { AccountId, type Actor, CurrentActor, type Scope } from "#src/accounts/CurrentActor.ts"
import { OAuthClients } from "#src/oauth/Clients.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { describe as failureOf } from "#src/shared/Failure.ts"
import { newId } from "#src/shared/ids.ts"
import { SqlClient } from "@effect/sql"
import { describe, expect, layer } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { newAccount, newServer } from "../gateway/support.ts"
import { clientHost } from "./support/client-host.ts"
import { clientsTest } from "./support/clients.ts"

const clients = OAuthClients
const session = (accountId: string): Actor => ({
  accountId: AccountId.make(accountId),
  email: "a@example.com",
  plan: "free",
  credential: { kind: "session", id: "ses_1", expiresAt: new Date(8e15) }
})
const key = (accountId: string, projectId: string, ...scopes: ReadonlyArray<Scope>): Actor => ({
  ...session(accountId),
  credential: { kind: "key", id: "key_1", projectId, environment: "live", scopes: new Set(scopes) }
})
const preRegister = (actor: Actor, serverId: string, clientMetadataUrl: string) =>
  Effect.flatMap(clients, (service) => service.preRegister(serverId, { clientMetadataUrl })).pipe(
    Effect.provideService(CurrentActor, actor)
  )
const isTrusted = (serverId: string, clientId: string) =>
  Effect.flatMap(clients, (service) => service.isTrustedFor(serverId, clientId))
const metadata = { redirect_uris: ["http://localhost/callback"], client_name: "Editor" }
const register = (address: string, input: unknown = metadata) =>
  Effect.provideService(Effect.flatMap(clients, (service) => service.register(input)), CallerAddress, address)
const exists = (clientId: string) =>
  Effect.map(Effect.flatMap(clients, (service) => service.find(clientId)), ({ _tag }) => _tag === "Some")

layer(clientsTest)((it) => {
  describe("a client that a server's owner registers", () => {
    it.scoped("is trusted by that server and no other", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const server = yield* newServer()
        const other = yield* newServer({ accountId: server.accountId })
        const id = host.newId()
        host.serve(host.document(id))
        const registered = yield* preRegister(session(server.accountId), server.id, id)
        expect(registered).toEqual({
          clientId: id,
          clientName: "Menu Reader",
          redirectUris: ["https://client.example/callback", "http://localhost/callback"],
          registeredAt: expect.any(Date),
          lastFetchedAt: expect.any(Date)
        })
        expect([yield* isTrusted(server.id, id), yield* isTrusted(other.id, id)]).toEqual([true, false])
      }))

    it.scoped("is fetched again when it is registered again, and keeps the time of the first", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const server = yield* newServer()
        const id = host.newId()
        host.serve(host.document(id), { "cache-control": "max-age=3600", "etag": "\"v1\"" })
        const first = yield* preRegister(session(server.accountId), server.id, id)
        host.serve(host.document(id, { client_name: "Renamed" }), { "cache-control": "max-age=3600" })
        yield* TestClock.adjust("1 minute")
        const second = yield* preRegister(session(server.accountId), server.id, id)
        expect(second.clientName).toBe("Renamed")
        expect(second.registeredAt).toEqual(first.registeredAt)
        expect(second.lastFetchedAt.getTime() - first.lastFetchedAt.getTime()).toBe(60_000)
        expect(host.asked.map((request) => request.headers["if-none-match"])).toEqual([undefined, "\"v1\""])
      }))

    it.scoped("is not registered with a bad URL, or a document that can't be had or is not valid (422)", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const server = yield* newServer()
        const id = host.newId()
        for (const url of ["", "client_x", "http://client.example/a", "https://client.example", id]) {
          const failure = failureOf(yield* Effect.flip(preRegister(session(server.accountId), server.id, url)))
          expect([failure?.status, failure?.details], url).toEqual([422, {
            issues: [{ path: "clientMetadataUrl", message: expect.stringMatching(/\S/) }]
          }])
          expect(yield* isTrusted(server.id, url)).toBe(false)
        }
      }))

    it.scoped("is registered by the owner's session alone: a key is 401, anybody else 404, and no host is asked", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const host = yield* clientHost
        const server = yield* newServer()
        const [row] = yield* sql<{ readonly projectId: string }>`SELECT project_id FROM servers WHERE id = ${server.id}`
        const owned = key(server.accountId, row!.projectId, "servers:read", "servers:write")
        const stranger = session(yield* newAccount())
        const status = (actor: Actor, id = server.id) =>
          Effect.map(Effect.flip(preRegister(actor, id, host.newId())), (error) => failureOf(error)?.status)
        expect(yield* status(owned)).toBe(401)
        expect(yield* status(stranger)).toBe(404)
        expect(yield* status(session(server.accountId), newId("srv"))).toBe(404)
        expect(yield* status(session(server.accountId), "x")).toBe(404)
        expect(host.asked).toEqual([])
      }))

    it.scoped("is one of a hundred at most (409); one that is there already may come again", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const host = yield* clientHost
        const server = yield* newServer()
        const owner = session(server.accountId)
        host.answer = (request, response) =>
          void response.writeHead(200, { "content-type": "application/json" })
            .end(JSON.stringify(host.document(`${host.origin}${request.url}`)))
        const id = host.newId()
        yield* preRegister(owner, server.id, id)
        yield* sql`INSERT INTO oauth_clients (client_id, kind, client_name, redirect_uris, document)
                   SELECT ${server.id} || n, 'metadata', '', '{}', '{}' FROM generate_series(1, 99) n`
        yield* sql`INSERT INTO server_clients (server_id, client_id)
                   SELECT ${server.id}, ${server.id} || n FROM generate_series(1, 99) n`
        expect(failureOf(yield* Effect.flip(preRegister(owner, server.id, host.newId())))?.status).toBe(409)
        expect((yield* preRegister(owner, server.id, id)).clientId).toBe(id)
      }))
  })

  describe("a client that registers itself [row 11]", () => {
    it.effect("gets an id that is no URL, and is found under it as it registered", () =>
      Effect.gen(function*() {
        const answer = yield* register("192.0.2.1", { ...metadata, scope: "mcp:read" })
        expect(answer.client_id).toMatch(/^client_[0-9A-Z]{26}$/)
        const service = yield* clients
        expect(yield* service.resolve(answer.client_id)).toEqual({
          clientId: answer.client_id,
          kind: "dynamic",
          clientName: "Editor",
          redirectUris: ["http://localhost/callback"],
          grantTypes: ["authorization_code"],
          scope: "mcp:read",
          registeredAt: expect.any(Date)
        })
      }))

    it.effect("is unknown under any other id", () =>
      Effect.gen(function*() {
        const { client_id } = yield* register("192.0.2.2")
        const service = yield* clients
        for (
          const id of [
            client_id.toLowerCase(),
            `${client_id} `,
            client_id.slice(7),
            "client_x",
            "",
            "berth-test-token",
            "\u0000"
          ]
        ) {
          expect((yield* Effect.flip(service.resolve(id)))._tag, id).toBe("ClientUnknown")
        }
      }))

    it.effect("may do so 60 times an hour from one address or IPv6 network, and bad requests do not count", () =>
      Effect.gen(function*() {
        for (let n = 0; n < 70; n++) yield* Effect.flip(register("2001:db8::1", {}))
        for (let n = 0; n < 60; n++) yield* register(`2001:db8::${n.toString(16)}`)
        const failure = failureOf(yield* Effect.flip(register("2001:db8::ffff")))
        expect([failure?.status, failure?.retryAfter]).toEqual([429, 3600])
        yield* register("2001:db8:0:1::1")
        yield* TestClock.adjust("1 hour")
        yield* register("2001:db8::1")
      }))
  })

  describe("clients that nobody uses", () => {
    const grant = Effect.fnUntraced(function*(clientId: string) {
      const sql = yield* SqlClient.SqlClient
      const userId = yield* newAccount()
      yield* sql`INSERT INTO oauth_grants ${
        sql.insert({
          id: newId("key"),
          userId,
          clientId,
          resource: "https://x.example",
          scopes: [],
          redirectUrisHash: Buffer.alloc(32)
        })
      }`
    })

    it.scoped("are dropped after 30 days; those that were approved or pre-registered stay", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const service = yield* clients
        const server = yield* newServer()
        const [unused, approved] = [(yield* register("192.0.2.3")).client_id, (yield* register("192.0.2.3")).client_id]
        const [seen, trusted] = [host.newId(), host.newId()]
        for (const id of [seen, trusted]) {
          host.serve(host.document(id))
          yield* service.resolve(id)
        }
        host.serve(host.document(trusted))
        yield* preRegister(session(server.accountId), server.id, trusted)
        yield* grant(approved)
        const left = Effect.forEach([unused, approved, seen, trusted], exists)
        yield* TestClock.adjust("29 days")
        yield* service.sweep
        expect(yield* left).toEqual([true, true, true, true])
        yield* TestClock.adjust("25 hours")
        yield* service.sweep
        expect(yield* left).toEqual([false, true, false, true])
      }))

    it.effect("are 20,000 at most, the newest", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const service = yield* clients
        const approved = (yield* register("192.0.2.4")).client_id
        const oldest = (yield* register("192.0.2.4")).client_id
        yield* grant(approved)
        yield* TestClock.adjust("1 second")
        yield* sql`INSERT INTO oauth_clients (client_id, kind, client_name, redirect_uris, document, registered_at)
                   SELECT 'flood' || n, 'dynamic', '', '{}', '{}', now() FROM generate_series(1, 20000) n`
        yield* service.sweep
        expect([yield* exists(oldest), yield* exists(approved)]).toEqual([false, true])
        const [count] = yield* sql`SELECT count(*)::int AS n FROM oauth_clients WHERE client_id LIKE 'flood%'`
        expect(count).toEqual({ n: 20_000 })
      }))
  })
})
