import { read } from "#http/api/middleware/bodies.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { PassThrough } from "node:stream"

const arriving = (source: PassThrough) => Effect.uninterruptible(Effect.fork(Effect.flip(read(source, 1024))))

describe("a body that arrives slowly", () => {
  it.effect("is waited for a minute, then refused with 408, and what still comes is thrown away", () =>
    Effect.gen(function*() {
      const source = new PassThrough()
      const refusal = yield* arriving(source)
      for (let second = 0; second < 59; second++) {
        source.write("x")
        yield* TestClock.adjust("1 second")
      }
      assert.isNull(refusal.unsafePoll())
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(refusal))._tag, "BodyTooSlow")
      assert.isTrue(source.readableFlowing)
      assert.strictEqual(source.listenerCount("data"), 0)
    }))

  it.effect("that ends in time is taken whole", () =>
    Effect.gen(function*() {
      const source = new PassThrough()
      const taken = yield* Effect.fork(read(source, 1024))
      source.write("{\"name\":")
      yield* TestClock.adjust("59 seconds")
      source.end("\"x\"}")
      assert.strictEqual((yield* Fiber.join(taken)).toString(), "{\"name\":\"x\"}")
    }))
})
