import { Deployments } from "#src/deployments/Deployments.ts"
import { Lifecycle } from "#src/deployments/Lifecycle.ts"
import { Reconciler } from "#src/deployments/Reconciler.ts"
import { Machines } from "#src/machines/Machines.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Servers } from "#src/servers/Servers.ts"
import { MachineMetering } from "#src/usage/MachineMetering.ts"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { appImage, type Behaviour } from "./support/app-image.ts"
import { getFrom } from "./support/http.ts"
import { longPlatformSuite, makeServer } from "./support/platform.ts"
import { until } from "./support/wait.ts"

const setUp = (behaviour: Behaviour = "healthy") =>
  Effect.gen(function*() {
    const deployments = yield* Deployments
    const machines = yield* Machines
    const made = yield* makeServer({ healthTimeoutSeconds: 3 })
    const { as, server } = made
    const { id } = yield* as(deployments.deploy(server.id, { imageUri: yield* appImage(behaviour) }))
    yield* as(deployments.settled(id))
    return {
      ...made,
      id,
      deployments,
      lifecycle: yield* Lifecycle,
      machines,
      reconciler: yield* Reconciler,
      status: Effect.map(as(Effect.flatMap(Servers, (servers) => servers.get(server.id))), ({ status }) => status),
      machine: Effect.map(machines.inspect(id), (state) => state?.status),
      messages: Effect.map(
        as(Effect.flatMap(ServerLogs, (logs) => logs.list(server.id, { limit: 200 }))),
        ({ items }) => items.map(({ message }) => message).join("\n")
      )
    }
  })

longPlatformSuite("starting and stopping", (it) => {
  it.effect("stopped stays stopped, also for the reconciler, until it is started", () =>
    Effect.gen(function*() {
      const { as, id, lifecycle, machine, reconciler, server, status } = yield* setUp()
      assert.strictEqual((yield* as(lifecycle.stop(server.id))).status, "stopped")
      assert.strictEqual(yield* machine, "exited")
      yield* reconciler.sweep()
      yield* reconciler.supervise()
      assert.strictEqual(yield* machine, "exited")
      assert.strictEqual((yield* as(lifecycle.stop(server.id))).status, "stopped")
      assert.strictEqual((yield* as(lifecycle.start(server.id))).status, "running")
      assert.strictEqual(yield* getFrom(id, "/healthz"), "{\"ok\":true}")
      assert.strictEqual((yield* as(lifecycle.start(server.id))).status, "running")
      assert.strictEqual(yield* status, "running")
    }), 30_000)

  it.effect("restart gives a new process in the same machine", () =>
    Effect.gen(function*() {
      const { as, id, lifecycle, messages, server } = yield* setUp()
      assert.strictEqual((yield* as(lifecycle.restart(server.id))).status, "running")
      assert.strictEqual(yield* getFrom(id, "/healthz"), "{\"ok\":true}")
      const text = yield* until(messages, (text) => text.split("listening on").length === 3)
      assert.include(text, "Stopped by request")
    }), 30_000)

  it.effect("needs a deployment, and none under way", () =>
    Effect.gen(function*() {
      const lifecycle = yield* Lifecycle
      const deployments = yield* Deployments
      const { as, server } = yield* makeServer({ healthTimeoutSeconds: 1 })
      assert.strictEqual((yield* as(Effect.flip(lifecycle.start(server.id))))._tag, "NotDeployed")
      yield* as(deployments.deploy(server.id, { imageUri: yield* appImage("silent") }))
      for (const act of [lifecycle.start, lifecycle.stop, lifecycle.restart]) {
        assert.strictEqual((yield* as(Effect.flip(act(server.id))))._tag, "DeploymentInProgress")
      }
    }), 30_000)

  it.effect("a deployment to a stopped server starts it", () =>
    Effect.gen(function*() {
      const { as, deployments, lifecycle, server, status } = yield* setUp()
      yield* as(lifecycle.stop(server.id))
      const { id } = yield* as(deployments.deploy(server.id, { imageUri: yield* appImage("healthy", { note: "2" }) }))
      assert.strictEqual((yield* as(deployments.settled(id))).status, "running")
      assert.strictEqual(yield* status, "running")
    }), 30_000)
})

longPlatformSuite("the reconciler", (it) => {
  it.effect("starts a machine at once that crashed, with a line that says how it ended", () =>
    Effect.gen(function*() {
      const { id, machine, messages, reconciler } = yield* setUp()
      yield* reconciler.supervise()
      yield* Effect.ignore(getFrom(id, "/exit/7"))
      const look = Effect.zipRight(reconciler.supervise(), messages)
      const text = yield* until(look, (text) => text.includes("attempt 1 of 5"))
      assert.include(text, "exited with code 7")
      assert.strictEqual(yield* machine, "running")
    }), 30_000)

  it.effect(
    "gives up on a machine that keeps crashing: the server is in error, and restart brings it back",
    () =>
      Effect.gen(function*() {
        const { as, id, lifecycle, machine, messages, reconciler, server, status } = yield* setUp()
        // A clock that leaps, but never a whole minute: that would count as peace.
        let ahead = 0
        const clock = yield* Effect.clock
        const leaping = Object.assign(Object.create(clock) as typeof clock, {
          currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + ahead)
        })
        const supervise = Effect.withClock(reconciler.supervise(), leaping)
        yield* supervise
        const look = Effect.gen(function*() {
          if ((yield* machine) === "running") yield* Effect.ignore(getFrom(id, "/exit/1"))
          else ahead += 8_000
          yield* supervise
          return yield* status
        })
        yield* until(look, (now) => now === "error")
        const given = yield* messages
        assert.include(given, "ended again after each of 5 attempts")
        yield* supervise
        assert.strictEqual(yield* machine, "exited")
        assert.strictEqual(yield* messages, given)
        assert.strictEqual((yield* as(lifecycle.restart(server.id))).status, "running")
        yield* supervise
        assert.strictEqual(yield* status, "running")
      }),
    60_000
  )

  it.effect(
    "a server in error for its crashes alone is running again once its machine is healthy",
    () =>
      Effect.gen(function*() {
        const { reconciler, server, status } = yield* setUp()
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE servers SET status = 'error' WHERE id = ${server.id}`
        yield* reconciler.sweep()
        assert.strictEqual(yield* status, "running")
      }),
    30_000
  )

  it.effect("makes a machine again that is gone", () =>
    Effect.gen(function*() {
      const { id, machine, machines, reconciler } = yield* setUp()
      yield* machines.destroy(id)
      yield* until(Effect.zipRight(reconciler.supervise(), machine), (status) => status === "running")
    }), 30_000)

  it.effect("destroys machines that no record knows, and no other", () =>
    Effect.gen(function*() {
      const { id, machine, machines, reconciler, server } = yield* setUp()
      const sql = yield* SqlClient.SqlClient
      const { as, id: other, server: doomed } = yield* setUp()
      yield* as(Effect.flatMap(Servers, (servers) => servers.get(doomed.id)))
      yield* sql`DELETE FROM servers WHERE id = ${doomed.id}`
      yield* reconciler.sweep()
      assert.isUndefined(yield* machines.inspect(other))
      assert.strictEqual(yield* machine, "running")
      assert.deepStrictEqual((yield* machines.list(server.id)).map(({ name }) => name), [id])
    }), 30_000)

  it.effect("starts the pipeline of a deployment that was recorded and never begun", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { as, deployments, id, reconciler, server } = yield* setUp()
      const lost = `${id.slice(0, -1)}${id.endsWith("A") ? "B" : "A"}`
      yield* sql`INSERT INTO deployments (id, server_id, version, type, image_uri)
        VALUES (${lost}, ${server.id}, 2, 'deploy', ${yield* appImage("healthy", { note: "lost" })})`
      yield* reconciler.sweep()
      assert.deepInclude(yield* as(deployments.settled(lost)), { status: "running", active: true, version: 2 })
    }), 30_000)

  it.effect("counts what machines run on their account's month", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { actor, as, lifecycle, server } = yield* setUp()
      const metering = yield* MachineMetering
      const counted = Effect.map(
        sql`SELECT compute_milliseconds FROM usage WHERE account_id = ${actor.accountId}`,
        ([row]) => Number(row?.["computeMilliseconds"] ?? 0)
      )
      yield* metering.tick()
      const before = yield* counted
      yield* Effect.sleep("1 second")
      yield* metering.tick()
      assert.closeTo((yield* counted) - before, 1_000, 400)
      yield* as(lifecycle.stop(server.id))
      yield* metering.tick()
      const stopped = yield* counted
      yield* Effect.sleep("300 millis")
      yield* metering.tick()
      assert.strictEqual(yield* counted, stopped)
    }), 30_000)

  it.effect("stops everything at the end of the process, without calling it a crash", () =>
    Effect.gen(function*() {
      const { machine, messages, reconciler, status } = yield* setUp()
      yield* reconciler.stopAll()
      assert.strictEqual(yield* machine, "exited")
      yield* reconciler.supervise()
      assert.strictEqual(yield* machine, "exited")
      assert.strictEqual(yield* status, "running")
      assert.notInclude(yield* messages, "exited with")
    }), 30_000)
})
