import { Deployments } from "#src/deployments/Deployments.ts"
import { MachineOutput } from "#src/deployments/MachineOutput.ts"
import { OutputRepo } from "#src/deployments/OutputRepo.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Environment } from "#src/servers/Environment.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { appImage } from "./support/app-image.ts"
import { getFrom } from "./support/http.ts"
import { longPlatformSuite, makeServer } from "./support/platform.ts"
import { until } from "./support/wait.ts"

const setUp = Effect.gen(function*() {
  const deployments = yield* Deployments
  const logs = yield* ServerLogs
  const sql = yield* SqlClient.SqlClient
  const { as, server } = yield* makeServer()
  const { id } = yield* as(deployments.deploy(server.id, { imageUri: yield* appImage("healthy") }))
  yield* as(deployments.settled(id))
  const matching = (search: string) =>
    Effect.map(
      sql`SELECT level, message FROM server_logs WHERE server_id = ${server.id} AND message LIKE ${search} ORDER BY id`,
      (rows) => rows.map((row) => ({ level: String(row["level"]), message: String(row["message"]) }))
    )
  return { as, server, id, logs, matching }
})

longPlatformSuite("a machine's output", (it) => {
  it.effect("is in its server's log, in order, with a level by its stream", () =>
    Effect.gen(function*() {
      const { id, matching } = yield* setUp
      yield* getFrom(id, "/say/20")
      const lines = yield* until(matching("line % of 20"), (found) => found.length === 20)
      assert.deepStrictEqual(
        lines.map(({ message }) => message),
        Array.from({ length: 20 }, (_, n) => `line ${n + 1} of 20`)
      )
      assert.deepStrictEqual(yield* matching("a notice"), [{ level: "warn", message: "a notice" }])
      assert.deepStrictEqual((yield* matching("starting as%")).map(({ level }) => level), ["info"])
    }), 30_000)

  it.effect(
    "goes on where it was taken over to when another process follows: nothing twice, nothing lost",
    () =>
      Effect.gen(function*() {
        const { id, matching, server } = yield* setUp
        const first = yield* MachineOutput
        yield* getFrom(id, "/say/5")
        yield* first.caughtUp(id)
        yield* first.unfollow(id)
        yield* getFrom(id, "/say/7")
        const another = MachineOutput.Default.pipe(Layer.fresh, Layer.provide(OutputRepo.Default))
        yield* Effect.provide(
          Effect.gen(function*() {
            const second = yield* MachineOutput
            yield* second.follow(id, server.id)
            yield* second.caughtUp(id)
            yield* until(matching("line % of 7"), (found) => found.length === 7)
          }),
          another
        )
        assert.strictEqual((yield* matching("line % of 5")).length, 5)
        assert.strictEqual((yield* matching("line % of 7")).length, 7)
        assert.strictEqual((yield* matching("listening on%")).length, 1)
      }),
    30_000
  )

  it.effect(
    "is bounded when there is too much of it, and the log says how much is missing",
    () =>
      Effect.gen(function*() {
        const { id, matching } = yield* setUp
        const total = 20_000
        yield* getFrom(id, `/say/${total}`)
        const notes = yield* until(matching("% lines of output were dropped%"), (found) => found.length > 0)
        assert.strictEqual(notes[0]!.level, "warn")
        yield* getFrom(id, "/say/1")
        const told = Effect.map(
          matching("% lines of output were dropped%"),
          (found) => found.reduce((sum, { message }) => sum + Number.parseInt(message, 10), 0)
        )
        const kept = Effect.map(matching(`line % of ${total}`), (found) => found.length)
        yield* until(Effect.zipWith(told, kept, (a, b) => a + b), (sum) => sum >= total)
        assert.strictEqual((yield* told) + (yield* kept), total)
        assert.isBelow(yield* kept, 5_000)
      }),
    30_000
  )

  it.effect("leaves no position behind when the machine is gone", () =>
    Effect.gen(function*() {
      const { as, id, server } = yield* setUp
      const deployments = yield* Deployments
      const machines = yield* Machines
      const sql = yield* SqlClient.SqlClient
      const next = yield* as(deployments.deploy(server.id, { imageUri: yield* appImage("healthy", { note: "2" }) }))
      yield* until(machines.inspect(id), (state) => state === undefined)
      yield* until(
        sql`SELECT machine FROM machine_output_positions WHERE server_id = ${server.id}`,
        (rows) => rows.length === 1 && rows[0]?.["machine"] === next.id
      )
    }), 30_000)
})

longPlatformSuite("values of a server's variables in its log", (it) => {
  it.effect(
    "are masked, also across parts of a line, and after they were changed, as long as a machine has them",
    () =>
      Effect.gen(function*() {
        const { as, server } = yield* makeServer()
        const [deployments, environment] = [yield* Deployments, yield* Environment]
        const set = (value: string) => as(environment.set(server.id, { name: "TOKEN", value }))
        const sql = yield* SqlClient.SqlClient
        const told = Effect.map(
          sql`SELECT message FROM server_logs WHERE server_id = ${server.id} ORDER BY id`,
          (rows) => rows.map((row) => String(row["message"]))
        )
        const toldSo = (end: string) => until(told, (found) => found.some((message) => message.endsWith(end)))
        yield* set("never-deployed")
        yield* set("first-secret")
        const { id } = yield* as(deployments.deploy(server.id, { imageUri: yield* appImage("healthy") }))
        yield* as(deployments.settled(id))
        yield* getFrom(id, "/tell/TOKEN/1")
        yield* toldSo("x[TOKEN] told")
        yield* set("second-secret")
        yield* getFrom(id, "/tell/TOKEN/2")
        yield* toldSo("xx[TOKEN] told")
        yield* as(environment.remove(server.id, "TOKEN"))
        yield* getFrom(id, `/tell/TOKEN/${16 * 1024 - 8}`)
        yield* toldSo(" told")
        const all = (yield* until(told, (found) => found.includes(" told"))).join("\n")
        assert.notMatch(all, /first|secret/)
        assert.include(all, `${"x".repeat(1_000)}[TOKEN]`)
        const kept = sql`SELECT 1 FROM replaced_variables WHERE server_id = ${server.id}`
        assert.lengthOf(yield* kept, 2)
        yield* sql`UPDATE replaced_variables SET replaced_at = replaced_at - interval '2 days' WHERE server_id = ${server.id}`
        yield* environment.forget
        assert.lengthOf(yield* kept, 0, "older than the deployment that runs")
      }),
    60_000
  )

  it.effect(
    "are masked in what a failed deployment tells",
    () =>
      Effect.gen(function*() {
        const { as, server } = yield* makeServer()
        const [deployments, environment] = [yield* Deployments, yield* Environment]
        yield* as(environment.set(server.id, { name: "TOKEN", value: "configuration" }))
        const { id } = yield* as(deployments.deploy(server.id, { imageUri: yield* appImage("crash") }))
        assert.strictEqual(
          (yield* as(deployments.settled(id))).errorMessage,
          "checking: the machine exited with code 3 before /healthz answered: Fatal error: no [TOKEN]"
        )
      }),
    60_000
  )
})
