import { awaitingEnd } from "#src/deployments/await-end.ts"
import { type Deployment } from "#src/deployments/Deployment.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"

const begun = { id: "dep_1", serverId: "srv_1", version: 1, status: "pending" } as Deployment
const building: Deployment = { ...begun, status: "building" }
const away = Effect.die(new Error("the database can't be reached"))

const told: Array<string> = []
const logs = {
  append: (_: string, lines: ReadonlyArray<{ readonly message: string }>) =>
    Effect.sync(() => void told.push(...lines.map(({ message }) => message)))
}
type Ways = Parameters<typeof awaitingEnd<never, never, never, never>>[0]
const waiting = (ways: Partial<Ways>) =>
  awaitingEnd<never, never, never, never>({
    ending: Effect.never,
    follow: () => Effect.never,
    logs,
    now: () => Effect.succeed(building),
    ...ways
  })(begun, () => Effect.void)

describe("who waits for a deployment", () => {
  it.effect("gets it as it is when the platform ends", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* waiting({ ending: Effect.void }), building)
      assert.deepStrictEqual(told, [])
    }))

  it.effect("waits through half a minute without a database, and then gets it as it began", () =>
    Effect.gen(function*() {
      let asked = 0
      const follow = () => Effect.suspend(() => ++asked === 3 ? Effect.succeed(building) : away)
      const through = yield* Effect.fork(waiting({ follow }))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* Fiber.join(through), building)

      const without = yield* Effect.fork(waiting({ follow: () => away }))
      yield* TestClock.adjust("20 seconds")
      assert.isNull(without.unsafePoll())
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* Fiber.join(without), begun)
    }))

  it.effect("who leaves is told of in its log", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(waiting({}))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      assert.match(told.join("\n"), /whoever waited for it has left; it goes on/)
    }))
})
