import { keptFor } from "#src/shared/kept-for.ts"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, TestClock } from "effect"

const counted = (result: (run: number) => Effect.Effect<number, string>) => {
  let runs = 0
  return { runs: () => runs, effect: Effect.suspend(() => result(++runs)) }
}

describe("a value kept for 5 seconds", () => {
  it.effect("is made once for all who ask meanwhile, and then anew", () =>
    Effect.gen(function*() {
      const { effect, runs } = counted(Effect.succeed)
      const kept = yield* keptFor("5 seconds")(effect)
      expect(yield* Effect.all([kept, kept, kept], { concurrency: "unbounded" })).toEqual([1, 1, 1])
      yield* TestClock.adjust("4999 millis")
      expect([yield* kept, runs()]).toEqual([1, 1])
      yield* TestClock.adjust("1 millis")
      expect([yield* kept, runs()]).toEqual([2, 2])
    }))

  it.effect("is not kept when it fails or dies", () =>
    Effect.gen(function*() {
      const { effect } = counted((run) =>
        run === 1 ? Effect.fail("first") : run === 2 ? Effect.die("x") : Effect.succeed(run)
      )
      const kept = yield* keptFor("5 seconds")(effect)
      expect(yield* Effect.either(kept)).toEqual(Either.left("first"))
      expect(Exit.isFailure(yield* Effect.exit(kept))).toBe(true)
      expect(yield* kept).toBe(3)
    }))

  it.live("goes on for the others when the first who asked goes away", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const { effect, runs } = counted((run) => Effect.as(Deferred.await(gate), run))
      const kept = yield* keptFor("5 seconds")(effect)
      const first = yield* Effect.fork(kept)
      yield* Effect.sleep("10 millis")
      const second = yield* Effect.fork(kept)
      yield* Effect.sleep("10 millis")
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(gate, undefined)
      expect([yield* Fiber.join(second), runs()]).toEqual([1, 1])
    }))
})
