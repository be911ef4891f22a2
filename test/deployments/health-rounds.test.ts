import { HealthProbes } from "#src/deployments/HealthProbes.ts"
import { HostLeaseLive } from "#src/hosts/HostLease.ts"
import { MachineError, Machines } from "#src/machines/Machines.ts"
import { ServicesLive } from "#src/Services.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { Shutdown } from "#src/shared/Shutdown.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer } from "effect"
import { createServer, type RequestListener } from "node:http"
import { type AddressInfo } from "node:net"
import { DatabaseTest } from "../support/Database.ts"
import { full, long } from "../support/needs.ts"
import { NoMachines } from "../support/no-machines.ts"
import { settingsTest } from "../support/Settings.ts"

/** Every machine of this file is one HTTP server; the path of a server's probes has its number. */
const machine = {
  answer: ((_, response) => void response.end("{}")) as RequestListener,
  asked: new Map<string, number>(),
  atOnce: 0,
  mostAtOnce: 0,
  isDriverDown: false
}

const http = Layer.scoped(
  Machines,
  Effect.gen(function*() {
    const server = createServer((request, response) => {
      const path = request.url ?? ""
      machine.asked.set(path, (machine.asked.get(path) ?? 0) + 1)
      machine.mostAtOnce = Math.max(machine.mostAtOnce, ++machine.atOnce)
      response.once("close", () => machine.atOnce--)
      machine.answer(request, response)
    })
    yield* Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
    yield* Effect.addFinalizer(() => Effect.sync(() => (server.closeAllConnections(), server.close())))
    const { port } = server.address() as AddressInfo
    return Machines.of({
      ...yield* Machines,
      inspect: (name) =>
        machine.isDriverDown
          ? new MachineError({ operation: "inspect", machine: name, message: "the driver is away" })
          : Effect.succeed({
            name,
            owner: "",
            status: "running",
            exitCode: null,
            address: { _tag: "Tcp", host: "127.0.0.1", port }
          })
    })
  })
).pipe(Layer.provide(NoMachines))

const platform = ServicesLive.pipe(
  Layer.provideMerge(http),
  Layer.provideMerge(Layer.provide(HostLeaseLive, Secrets.Default)),
  Layer.provideMerge(Shutdown.Default),
  Layer.provideMerge(DatabaseTest),
  Layer.provideMerge(settingsTest({ HEALTH_PROBE_SECONDS: "60" })),
  Layer.orDie
)

const count = 120

/** So many linked servers that run, each asked at a path of its own; none has been probed. */
const fleet = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`TRUNCATE users, slugs CASCADE`
  yield* sql`INSERT INTO users (id, email, password_hash) VALUES ('u', 'u@example.com', '-')`
  yield* sql`INSERT INTO projects (id, account_id, name, slug) VALUES ('p', 'u', 'P', 'p')`
  const all = sql`generate_series(1, ${count}::int) AS i`
  yield* sql`INSERT INTO slugs SELECT 's' || i, 'u' FROM ${all}`
  yield* sql`INSERT INTO servers (id, project_id, name, slug, status, region, cpu, memory_mb, health_path,
      health_timeout_seconds, rollback_on_health_check_failure, deployment_retention_count, replay_token)
    SELECT 's' || i, 'p', 'S', 's' || i, 'running', 'ord', 'shared-1x', 256, '/' || i, 30, true, 10, 't' || i
    FROM ${all}`
  yield* sql`INSERT INTO deployments (id, server_id, version, type, status, active, image_uri)
    SELECT 'd' || i, 's' || i, 1, 'deploy', 'running', true, 'x' FROM ${all}`
  yield* sql`UPDATE servers SET active_deployment_id = 'd' || substr(id, 2)`
  yield* sql`INSERT INTO businesses (id, project_id, server_id, name, slug, industry, template_type)
    SELECT 'b' || i, 'p', 's' || i, 'B', 'b' || i, 'custom', 'custom' FROM ${all}`
  yield* sql`INSERT INTO listings (id, business_id, name, description, business_name, business_slug, industry,
      template_type, city, state, tier, verification_tier, status)
    SELECT 'l' || i, 'b' || i, 'B', '', 'B', 'b' || i, 'custom', 'custom', '', '', 'basic', 0, 'active' FROM ${all}`
  Object.assign(machine, { asked: new Map(), mostAtOnce: 0, isDriverDown: false })
  const probes = yield* HealthProbes
  const scores = Effect.map(
    sql`SELECT health_score AS score, count(*)::int AS n FROM listings GROUP BY 1 ORDER BY 1`,
    (rows) => Object.fromEntries(rows.map(({ n, score }) => [String(score), Number(n)]))
  )
  return { run: probes.run(), scores, sql }
})

const isOdd = (path: string | undefined) => Number(path?.slice(1)) % 2 === 1

layer(platform, { excludeTestServices: true, timeout: 60_000 })("a round of health probes", (it) => {
  it.effect(
    "asks each of many servers once, a few at a time, and those that hang hold nobody up for long",
    () =>
      Effect.gen(function*() {
        const { run, scores } = yield* fleet
        const isMute = (path: string | undefined) => Number(path?.slice(1)) % 10 === 0
        machine.answer = ({ url }, response) => void (isMute(url) || response.end(isOdd(url) ? "{}" : "no json"))
        const [took] = yield* Effect.timed(run)
        assert.strictEqual(machine.asked.size, count)
        assert.deepStrictEqual([...new Set(machine.asked.values())], [1])
        assert.isAtMost(machine.mostAtOnce, 32)
        // One after the other the 12 that hang would take a minute.
        assert.isBelow(Duration.toMillis(took), 40_000)
        assert.deepStrictEqual(yield* scores, { 0: count / 2, 100: count / 2 })
        yield* run
        assert.deepStrictEqual([...new Set(machine.asked.values())], [1], "not due")
      }),
    60_000
  )

  it.effect(
    "that was cut off has counted what it wrote, and the next one goes on with the rest",
    () =>
      Effect.gen(function*() {
        const { run, scores, sql } = yield* fleet
        machine.answer = (_, response) => void setTimeout(() => response.end("{}"), 50)
        const cut = yield* Effect.fork(run)
        yield* Effect.sleep("200 millis")
        yield* Fiber.interrupt(cut)
        const [written] = yield* sql`SELECT count(*)::int AS n FROM server_health`
        assert.isBelow(Number(written?.["n"]), count)
        yield* run
        assert.deepStrictEqual(yield* scores, { 100: count })
        const [probes] = yield* sql`SELECT sum((hours -> 0 ->> 1)::int)::int AS n FROM server_health`
        assert.strictEqual(probes?.["n"], count)
      }),
    30_000
  )

  it.effect("of two hosts at once counts each server once", () =>
    Effect.gen(function*() {
      const { run, sql } = yield* fleet
      machine.answer = ({ url }, response) => void response.end(isOdd(url) ? "{}" : "no")
      yield* Effect.all([run, run, run], { concurrency: 3 })
      const rows = yield* sql`SELECT DISTINCT (hours -> 0 ->> 1)::int AS n, score FROM server_health ORDER BY score`
      assert.deepStrictEqual(rows, [{ n: 1, score: 0 }, { n: 1, score: 100 }])
    }), 30_000)

  it.effect.skipIf(!full)(
    long("counts nothing while the driver is away, and when the platform itself stood still"),
    () =>
      Effect.gen(function*() {
        const { run, scores, sql } = yield* fleet
        machine.isDriverDown = true
        yield* run
        machine.isDriverDown = false
        yield* sql`DELETE FROM businesses WHERE id <> 'b1'`
        machine.answer = () => {
          // Nothing else of this process moves meanwhile, the deadlines neither.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7_500)
        }
        yield* run
        assert.deepStrictEqual(yield* scores, { 0: 1 })
        assert.deepStrictEqual(yield* sql`SELECT * FROM server_health`, [])
      }),
    30_000
  )

  it.effect("survives an outage of the database between the probe and the listing", () =>
    Effect.gen(function*() {
      const { run, scores, sql } = yield* fleet
      machine.answer = (_, response) => void response.end("{}")
      yield* sql`ALTER TABLE listings RENAME TO listings_away`
      assert.strictEqual((yield* Effect.exit(run))._tag, "Failure")
      yield* sql`ALTER TABLE listings_away RENAME TO listings`
      yield* run
      assert.deepStrictEqual(yield* scores, { 100: count })
    }), 30_000)
})
