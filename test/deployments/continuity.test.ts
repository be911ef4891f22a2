import { Deployments } from "#src/deployments/Deployments.ts"
import { Reconciler } from "#src/deployments/Reconciler.ts"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { appImage } from "./support/app-image.ts"
import { getFrom } from "./support/http.ts"
import { longPlatformSuite, makeServer } from "./support/platform.ts"
import { until } from "./support/wait.ts"

longPlatformSuite("continuity", (it) => {
  it.effect(
    "whoever asks the deployment that serves always gets an answer, through deploys, a failure and a rollback",
    () =>
      Effect.gen(function*() {
        const deployments = yield* Deployments
        const sql = yield* SqlClient.SqlClient
        const { as, server } = yield* makeServer({ healthTimeoutSeconds: 1 })
        const settle = (begun: Effect.Effect<{ readonly id: string }, unknown, never>) =>
          Effect.flatMap(begun, ({ id }) => as(deployments.settled(id)))
        const deploy = (behaviour: "healthy" | "failing", note: string) =>
          Effect.flatMap(
            appImage(behaviour, { note }),
            (imageUri) => settle(as(deployments.deploy(server.id, { imageUri })))
          )
        yield* deploy("healthy", "1")

        let asked = 0
        const ask = Effect.gen(function*() {
          const [row] = yield* sql`SELECT active_deployment_id FROM servers WHERE id = ${server.id}`
          assert.strictEqual(yield* getFrom(String(row?.["activeDeploymentId"]), "/healthz"), "{\"ok\":true}")
          asked += 1
        })
        const prober = yield* Effect.fork(Effect.repeat(ask, Schedule.spaced("10 millis")))
        assert.strictEqual((yield* deploy("healthy", "2")).status, "running")
        assert.strictEqual((yield* deploy("failing", "3")).status, "failed")
        const back = yield* settle(as(deployments.rollback(server.id, { version: 1 })))
        assert.strictEqual(back.status, "running")
        // Until the machine that was replaced is gone.
        yield* until(
          sql`SELECT stage FROM deployments WHERE id = ${back.id}`,
          ([row]) => row?.["stage"] === "retired"
        )
        assert.isNull(yield* Fiber.poll(prober).pipe(Effect.map((exit) => exit._tag === "Some" ? exit.value : null)))
        yield* Fiber.interrupt(prober)
        assert.isAbove(asked, 50)
      }),
    60_000
  )

  it.effect("a deployment survives the loss of every connection to the database", () =>
    Effect.gen(function*() {
      const deployments = yield* Deployments
      const sql = yield* SqlClient.SqlClient
      const { as, server } = yield* makeServer()
      const { id } = yield* as(deployments.deploy(server.id, { imageUri: yield* appImage("slow") }))
      const cut = Effect.ignore(sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`)
      yield* Effect.repeat(cut, { times: 5, schedule: Schedule.spaced("400 millis") })
      const { sweep } = yield* Reconciler
      const look = Effect.zipRight(sweep(), as(deployments.get(server.id, id)))
      const record = Effect.option(Effect.catchAllDefect(look, Effect.fail))
      const done = yield* until(record, (found) => found._tag === "Some" && found.value.status === "running")
      assert.strictEqual(done._tag, "Some")
    }), 60_000)
})
