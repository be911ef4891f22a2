import { HealthProbes } from "#src/deployments/HealthProbes.ts"
import { Lifecycle } from "#src/deployments/Lifecycle.ts"
import { Machines } from "#src/machines/Machines.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Servers } from "#src/servers/Servers.ts"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { hourly, setUp } from "./support/health.ts"
import { moodyImage } from "./support/moody-image.ts"
import { platformSuite } from "./support/platform.ts"

platformSuite("the health score of a server", (it) => {
  it.effect(
    "begins at 100 with its first deployment, is the share of good probes, and forgets after a day",
    () =>
      Effect.gen(function*() {
        const { be, health, hour, listed, release, score } = yield* setUp(false)
        assert.isNull(yield* health)
        assert.include(yield* listed, { healthScore: 0 })
        const { relevanceScore: before } = yield* listed
        yield* release(yield* moodyImage())
        assert.include(yield* health, { score: 100, probes: 1, failures: 0, lastFailure: null })
        assert.include(yield* listed, { healthScore: 100, relevanceScore: before + 100 })

        yield* be("broken")
        yield* hour
        assert.include(yield* health, {
          score: 50,
          probes: 2,
          failures: 1,
          lastFailure: "answered with status 500, not 200"
        })
        assert.include(yield* listed, { healthScore: 50, relevanceScore: before + 50 })

        yield* be("good")
        for (let hours = 0; hours < 22; hours++) yield* hour
        // The checks of the deployment, a bad hour, and 22 good ones.
        assert.strictEqual(yield* score, 96)
        yield* hour
        assert.include(yield* health, { score: 96, probes: 25 })
        yield* hour
        assert.include(yield* health, { score: 100, probes: 24, failures: 0 })
        assert.include(yield* listed, { healthScore: 100, relevanceScore: before + 100 })
      }),
    60_000
  )

  it.effect(
    "that stays the same writes no listing, and one that changes does not make it newer",
    () =>
      Effect.gen(function*() {
        const { be, hour, listed } = yield* setUp()
        const before = yield* listed
        yield* hour
        yield* hour
        assert.deepStrictEqual(yield* listed, before)
        yield* be("broken")
        yield* hour
        const after = yield* listed
        assert.strictEqual(after.healthScore, 75)
        assert.deepStrictEqual(after.updatedAt, before.updatedAt)
      }),
    30_000
  )

  it.effect("stays while the server is stopped, which no probe wakes", () =>
    Effect.gen(function*() {
      const { as, asked, be, health, hour, machine, server } = yield* setUp()
      const lifecycle = yield* Lifecycle
      const machines = yield* Machines
      yield* be("broken")
      yield* hour
      const before = yield* health
      yield* as(lifecycle.stop(server.id))
      yield* hour
      yield* hour
      assert.include(yield* health, { score: before?.score ?? 0, probes: 2, failures: 1 })
      assert.strictEqual((yield* machines.inspect(yield* machine))?.status, "exited")
      yield* as(lifecycle.start(server.id))
      yield* hour
      assert.include(yield* health, { score: 67, probes: 3 })
      assert.strictEqual(yield* asked, 2, "its owner's start and one probe")
    }), 30_000)

  it.effect("goes on after another deployment: nobody deploys bad hours away", () =>
    Effect.gen(function*() {
      const { be, health, hour, release } = yield* setUp()
      yield* be("broken")
      yield* hour
      yield* hour
      yield* release(yield* moodyImage("3"))
      assert.include(yield* health, { score: 33, probes: 3, failures: 2 })
    }), 30_000)

  it.effect(
    "is probed by the path that the deployment was checked by, until the next one",
    () =>
      Effect.gen(function*() {
        const { as, health, hour, server } = yield* setUp()
        const servers = yield* Servers
        yield* as(servers.update(server.id, { healthPath: "/ready" }))
        yield* hour
        assert.include(yield* health, { probes: 2, failures: 0 })
      }),
    30_000
  )

  it.effect(
    "is told in the server's log when it begins to fail, and when it is good again",
    () =>
      Effect.gen(function*() {
        const { as, be, hour, server } = yield* setUp()
        const logs = yield* ServerLogs
        for (const mood of ["broken", "broken", "good", "good"] as const) {
          yield* be(mood)
          yield* hour
        }
        const { items } = yield* as(logs.list(server.id, { limit: 200, search: "Health probe" }))
        assert.sameDeepMembers(items.map(({ level, message }) => [level, message]), [
          ["warn", "Health probe: /healthz answered with status 500, not 200"],
          ["info", "Health probe: /healthz is good again"]
        ])
      }),
    30_000
  )

  it.effect(
    "takes one round of probes at a time from two hosts, and none of a server without a business",
    () =>
      Effect.gen(function*() {
        const { as, asked, business, businesses, health, hour, server } = yield* setUp()
        const probes = yield* HealthProbes
        const sql = yield* SqlClient.SqlClient
        const before = yield* asked
        yield* sql`UPDATE server_health SET probed_at = probed_at - interval '1 hour'`
        yield* Effect.all([probes.run(), probes.run(), probes.run()], { concurrency: 3 })
        assert.include(yield* health, { probes: 2 })
        const after = yield* asked
        assert.isAtMost(after - before, 3)
        yield* probes.run()
        assert.strictEqual(yield* asked, after, "not due")
        yield* as(businesses.update(business.id, { serverId: null }))
        yield* hour
        assert.strictEqual(yield* asked, after, "linked to nobody")
        yield* as(businesses.update(business.id, { serverId: server.id }))
        assert.include(yield* health, { probes: 2, score: 100 })
      }),
    30_000
  )
}, hourly)
