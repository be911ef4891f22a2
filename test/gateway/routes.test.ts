import { Routes } from "#src/routing/Routes.ts"
import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { UsageRepo } from "#src/usage/UsageRepo.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { full, long } from "../support/needs.ts"
import {
  deploy,
  FakeMachines,
  gatewayServices,
  newAccount,
  newServer,
  rawRequest,
  startGateway,
  startOtherGateway,
  startUpstream,
  statusOf
} from "./support.ts"

layer(gatewayServices(), { excludeTestServices: true })("what the gateway knows of servers", (it) => {
  const find = (slug: string) => Effect.flatMap(Routes, (routes) => Effect.promise(() => routes.find(slug)))
  const eventually = Effect.fnUntraced(function*<E, R>(what: string, holds: Effect.Effect<boolean, E, R>) {
    for (let i = 0; i < 250; i++) {
      if (yield* holds) return
      yield* Effect.sleep("20 millis")
    }
    assert.fail(`in 5 seconds, not ${what}`)
  })
  /** Until the listening connection is there, nothing is kept for long. */
  const listening = Effect.gen(function*() {
    const { inspected } = yield* FakeMachines
    const { slug } = yield* newServer({ machine: { _tag: "Unix", path: "/nowhere" } })
    yield* eventually(
      "listening",
      Effect.gen(function*() {
        yield* find(slug)
        const before = inspected.length
        yield* Effect.sleep("1100 millis")
        yield* find(slug)
        return inspected.length === before
      })
    )
  })

  it.scoped.skipIf(!full)(
    long("is asked once for many who come at the same time, and kept"),
    () =>
      Effect.gen(function*() {
        yield* listening
        const { inspected } = yield* FakeMachines
        const { slug } = yield* newServer({ machine: { _tag: "Unix", path: "/a" } })
        // What was told of its making has arrived by then.
        yield* Effect.sleep("700 millis")
        const before = inspected.length
        yield* Effect.all(Array.from({ length: 50 }, () => find(slug)), { concurrency: "unbounded" })
        yield* find(slug)
        assert.strictEqual(inspected.length, before + 1)
      })
  )

  it.scoped("follows every change of a server's row: made, deployed, stopped, reconfigured, deleted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* listening
      const server = yield* newServer()
      assert.isUndefined((yield* find(server.slug))?.machine)
      const machine = { _tag: "Unix", path: "/first" } as const
      yield* deploy(server.id, machine)
      const machineIs = (path: string | undefined) =>
        eventually(
          `at ${path}`,
          Effect.map(find(server.slug), (route) =>
            (route?.machine?._tag === "Unix" ? route.machine.path : undefined) === path)
        )
      yield* machineIs("/first")
      yield* deploy(server.id, { _tag: "Unix", path: "/second" })
      yield* machineIs("/second")
      yield* sql`UPDATE servers SET active_deployment_id = NULL, status = 'stopped' WHERE id = ${server.id}`
      yield* machineIs(undefined)
      yield* sql`DELETE FROM servers WHERE id = ${server.id}`
      yield* eventually("gone", Effect.map(find(server.slug), (route) => route === undefined))
    }))

  it.scoped("learns of a server whose name was asked for in vain before", () =>
    Effect.gen(function*() {
      yield* listening
      const sql = yield* SqlClient.SqlClient
      const { id, slug } = yield* newServer()
      yield* sql`INSERT INTO slugs (slug, account_id) SELECT ${`new-${slug}`}, account_id FROM slugs WHERE slug = ${slug}`
      assert.isUndefined(yield* find(`new-${slug}`))
      yield* sql`UPDATE servers SET slug = ${`new-${slug}`} WHERE id = ${id}`
      yield* eventually("found", Effect.map(find(`new-${slug}`), (route) => route !== undefined))
    }))

  it.scoped.skipIf(!full)(
    long("is forgotten when the connection that listens breaks, and followed again afterwards"),
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* listening
        const { inspected } = yield* FakeMachines
        const server = yield* newServer({ machine: { _tag: "Unix", path: "/a" } })
        yield* find(server.slug)
        const before = inspected.length
        const killed = yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'berth gateway' AND datname = current_database()`
        assert.strictEqual(killed.length, 1)
        yield* eventually("asked again", Effect.map(find(server.slug), () => inspected.length > before))
        yield* listening
        yield* deploy(server.id, { _tag: "Unix", path: "/b" })
        yield* eventually(
          "moved",
          Effect.map(find(server.slug), (route) => route?.machine?._tag === "Unix" && route.machine.path === "/b")
        )
      }),
    30_000
  )
})

layer(gatewayServices(), { excludeTestServices: true })("usage", (it) => {
  const stored = (accountId: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.map(
        sql<{ readonly requestCount: string; readonly bandwidthBytes: string; readonly period: Date }>`
          SELECT request_count, bandwidth_bytes, period FROM usage WHERE account_id = ${accountId}`,
        (rows) => rows.map((row) => [Number(row.requestCount), Number(row.bandwidthBytes), row.period.toISOString()])
      ))
  const thisMonth = `${new Date().toISOString().slice(0, 7)}-01T00:00:00.000Z`

  it.scoped("counts what reached a machine, with the bytes of both bodies, and nothing that was refused", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const metering = yield* RequestMetering
      const machine = yield* startUpstream((req, res) => void req.resume().on("end", () => res.end("12345")))
      const { accountId, path, token } = yield* newServer({ machine })
      const authorization = `Authorization: Bearer ${token}`
      for (let i = 0; i < 3; i++) {
        yield* rawRequest(port, "POST", path, ["Host: b", authorization, "Content-Length: 10"], "0123456789")
      }
      yield* rawRequest(port, "GET", path, ["Host: b", "Authorization: Bearer no"])
      yield* rawRequest(port, "GET", `/.well-known/oauth-protected-resource${path}`, ["Host: b"])
      yield* metering.flush
      assert.deepStrictEqual(yield* stored(accountId), [[3, 45, thisMonth]])
      yield* metering.flush
      assert.deepStrictEqual(yield* stored(accountId), [[3, 45, thisMonth]], "written once")
    }))

  it.scoped("that is all the plan allows a month is answered 429, with the time until the next", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { port } = yield* startGateway
      const metering = yield* RequestMetering
      const machine = yield* startUpstream((_, res) => void res.end())
      const { accountId, path, token } = yield* newServer({ machine, plan: "free" })
      yield* sql`INSERT INTO usage ${sql.insert({ accountId, period: thisMonth, requestCount: 9_998 })}`
      const ask = rawRequest(port, "GET", path, ["Host: b", `Authorization: Bearer ${token}`])
      const statuses = [yield* ask, yield* ask, yield* ask].map(statusOf)
      assert.deepStrictEqual(statuses, [200, 200, 429])
      const refused = yield* ask
      assert.match(refused, /^x-ratelimit-limit: 100\r$/im, "of the server's plan, and no matter of the address")
      const now = new Date()
      const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1))
      assert.deepStrictEqual(JSON.parse(refused.slice(refused.indexOf("\r\n\r\n"))).error, {
        code: "PLAN_LIMIT_REACHED",
        message: "The free plan allows 10,000 requests a month, and they are used up: wait until " +
          `${next.toISOString()}, or change to the developer plan (29 USD a month)`,
        details: {
          limit: "requestsPerMonth",
          used: 10_000,
          allowed: 10_000,
          plan: "free",
          nextPlan: "developer",
          nextPrice: 29,
          resetsAt: next.toISOString()
        }
      })
      const seconds = Number(/^retry-after: (\d+)/im.exec(refused)?.[1])
      const left = (next.getTime() - now.getTime()) / 1000
      assert.closeTo(seconds, left, 5)
      yield* metering.flush
      assert.strictEqual((yield* stored(accountId))[0]?.[0], 10_000)
    }))

  it.scoped("is that of another plan in every gateway as soon as the change is committed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const gateways = [yield* startGateway, yield* startOtherGateway]
      const machine = yield* startUpstream((_, res) => void res.end())
      const first = yield* newServer({ machine, plan: "developer" })
      const servers = [first, yield* newServer({ machine, accountId: first.accountId })]
      yield* sql`INSERT INTO usage ${
        sql.insert({ accountId: first.accountId, period: thisMonth, requestCount: 20_000 })
      }`
      const ask = Effect.map(
        Effect.all(
          gateways.flatMap(({ port }) =>
            servers.map(({ path, token }) =>
              rawRequest(port, "GET", path, ["Host: b", `Authorization: Bearer ${token}`])
            )
          )
        ),
        (answers) => [...new Set(answers.map(statusOf))].join()
      )
      // From here on each keeps what it knows for half a minute.
      yield* Effect.sleep("1500 millis")
      assert.strictEqual(yield* ask, "200")
      const change = (plan: string) => sql`UPDATE users SET plan = ${plan} WHERE id = ${first.accountId}`
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* change("free")
        yield* Effect.sleep("200 millis")
        assert.strictEqual(yield* ask, "200", "it may not be committed")
      }))
      yield* Effect.sleep("1 second")
      assert.strictEqual(yield* ask, "429")
      yield* change("pro")
      yield* Effect.sleep("1 second")
      assert.strictEqual(yield* ask, "200")
    }))

  it.scoped("survives a failure to write, and the end of an account", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const metering = yield* RequestMetering
      const [kept, deleted] = [yield* newAccount(), yield* newAccount()]
      metering.admit(kept, null)
      metering.addBytes(kept, 7)
      metering.admit(deleted, null)
      yield* sql`DELETE FROM users WHERE id = ${deleted}`
      yield* sql`ALTER TABLE usage RENAME TO hidden`
      yield* metering.flush
      yield* sql`ALTER TABLE hidden RENAME TO usage`
      yield* metering.flush
      assert.deepStrictEqual(yield* stored(kept), [[1, 7, thisMonth]])
    }))

  it.scoped("is written when the process ends", () =>
    Effect.gen(function*() {
      const accountId = yield* newAccount()
      yield* Effect.scoped(Effect.gen(function*() {
        const process = yield* Layer.build(Layer.provide(RequestMetering.Default, UsageRepo.Default))
        Context.get(process, RequestMetering).admit(accountId, null)
      }))
      assert.deepStrictEqual(yield* stored(accountId), [[1, 0, thisMonth]])
    }))
})
