import { Leftovers } from "#src/deployments/Leftovers.ts"
import { PackageScripts } from "#src/deployments/PackageScripts.ts"
import { Machines } from "#src/machines/Machines.ts"
import { assert } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { longPlatformSuite } from "../deployments/support/platform.ts"
import { testRootfs } from "../support/rootfs.ts"

const sleeps = {
  rootfs: testRootfs(),
  config: { entrypoint: ["sleep", "1000"], cmd: [], env: [], workingDir: "/", user: "" },
  files: [],
  port: 8080
}
const name = "dep_crashed.scripts"

longPlatformSuite("the machine of install scripts", (it) => {
  const record = { id: "dep_crashed", serverId: "srv_none", packageScripts: true }
  type Row = Parameters<PackageScripts["of"]>[0]

  it.effect(
    "is spared by the reconciler while they run, and goes when the deployment is interrupted",
    () =>
      Effect.gen(function*() {
        const machines = yield* Machines
        const leftovers = yield* Leftovers
        const scripts = yield* PackageScripts
        const run = scripts.of(record as Row)!(sleeps, () => Effect.succeed(false))
        const running = yield* Effect.fork(run)
        yield* Effect.repeat(machines.inspect(name), {
          until: (state) => state?.status === "running",
          schedule: Schedule.spaced("50 millis")
        })
        assert.deepStrictEqual(yield* leftovers.ofAll(), [])
        yield* leftovers.ofServer(record.serverId)
        assert.strictEqual((yield* machines.inspect(name))?.status, "running")
        yield* Fiber.interrupt(running)
        assert.isUndefined(yield* machines.inspect(name))
      }),
    60_000
  )

  it.effect(
    "that a crash left goes: by the reconciler, or for the one that runs them again",
    () =>
      Effect.gen(function*() {
        const machines = yield* Machines
        const leftovers = yield* Leftovers
        const scripts = yield* PackageScripts
        const crashed = Effect.zipRight(
          machines.provision({
            ...sleeps,
            name,
            owner: record.serverId,
            env: {},
            cpu: "shared-1x",
            memoryMb: 64
          }),
          machines.start(name)
        )
        yield* crashed
        assert.deepStrictEqual(yield* leftovers.ofAll(), [name])
        assert.isUndefined(yield* machines.inspect(name))
        yield* crashed
        // The old one would run for a thousand seconds.
        const other = {
          ...sleeps,
          config: { ...sleeps.config, entrypoint: ["sh", "-c", "echo last words >&2; exit 3"] }
        }
        const failed = yield* Effect.flip(scripts.of(record as Row)!(other, () => Effect.succeed(false)))
        assert.strictEqual(failed.message, "the install scripts failed with exit code 3: last words")
        assert.isUndefined(yield* machines.inspect(name))
      }),
    60_000
  )

  it.effect("is made for no deployment that doesn't ask for it", () =>
    Effect.gen(function*() {
      const scripts = yield* PackageScripts
      assert.isUndefined(scripts.of({ ...record, packageScripts: false } as Row))
    }))
})
