import { Lifecycle } from "#src/deployments/Lifecycle.ts"
import { Reconciler } from "#src/deployments/Reconciler.ts"
import { Machines } from "#src/machines/Machines.ts"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { hourly, setUp } from "./support/health.ts"
import { type Mood, moodyImage } from "./support/moody-image.ts"
import { longPlatformSuite } from "./support/platform.ts"
import { until } from "./support/wait.ts"

longPlatformSuite("the health score of a server that fails", (it) => {
  it.effect(
    "falls by every answer that is not 200 with JSON in five seconds, without a redirect followed",
    () =>
      Effect.gen(function*() {
        const [one, other] = [yield* setUp(), yield* setUp()]
        const failures: ReadonlyArray<readonly [Mood, string]> = [
          ["broken", "answered with status 500, not 200"],
          ["text", "answered 200, but the body is not JSON"],
          // These two wait for their five seconds at the same time.
          ["mute", "took the connection and did not answer"],
          ["drip", "took the connection and did not answer"],
          ["huge", "answered 200, but with more than 64 KiB"],
          ["endless", "answered 200, but with more than 64 KiB"],
          ["elsewhere", "answered with status 302, not 200"],
          ["garbage", "it does not speak HTTP"]
        ]
        for (let at = 0; at < failures.length; at += 2) {
          const round = [one, other].map((server, which) => ({ ...server, failing: failures[at + which] }))
          for (const { be, failing } of round) yield* be(failing![0])
          const [took] = yield* Effect.timed(one.hour)
          assert.isBelow(Duration.toMillis(took), 7_000, failures[at]![0])
          for (const { failing, health } of round) {
            const [mood, failure] = failing!
            const read = yield* health
            assert.include(read?.lastFailure, failure, mood)
            assert.strictEqual(read?.failures, 1 + at / 2, mood)
          }
        }
      }),
    60_000
  )

  it.effect("falls while its machine has ended by itself, until it is given up", () =>
    Effect.gen(function*() {
      const { ask, health, hour, machine, server } = yield* setUp()
      const machines = yield* Machines
      const sql = yield* SqlClient.SqlClient
      yield* Effect.exit(ask("/leave"))
      const id = yield* machine
      yield* until(machines.inspect(id), (state) => state?.status === "exited")
      yield* hour
      assert.include(yield* health, { score: 50, lastFailure: "is not reached: its machine has ended" })
      yield* sql`UPDATE servers SET status = 'error' WHERE id = ${server.id}`
      yield* hour
      assert.include(yield* health, { score: 50, probes: 2 })
    }), 30_000)

  it.effect(
    "is not changed by what is no fault of the server: a restart, a vanished machine, another deployment",
    () =>
      Effect.gen(function*() {
        const { as, be, health, hour, machine, release, server } = yield* setUp()
        const lifecycle = yield* Lifecycle
        const machines = yield* Machines
        const restart = yield* Effect.fork(as(lifecycle.restart(server.id)))
        while ((yield* Fiber.poll(restart))._tag === "None") yield* hour
        assert.include(yield* health, { score: 100, failures: 0 })

        // The machine that is probed is replaced before its answer is there.
        yield* be("mute")
        const probing = yield* Effect.fork(hour)
        yield* release(yield* moodyImage("2"))
        yield* Fiber.join(probing)
        assert.include(yield* health, { score: 100, failures: 0 })

        yield* machines.destroy(yield* machine)
        yield* hour
        assert.include(yield* health, { score: 100, failures: 0 })
      }),
    60_000
  )

  it.effect("survives the platform's end in between: a gap counts for nothing", () =>
    Effect.gen(function*() {
      const { health, hour, machine } = yield* setUp()
      const { bringBack } = yield* Reconciler
      const machines = yield* Machines
      yield* machines.stop(yield* machine)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE server_health SET probed_at = probed_at - interval '3 days'`
      yield* bringBack()
      yield* hour
      assert.include(yield* health, { score: 100, probes: 2 })
    }), 30_000)
}, hourly)
