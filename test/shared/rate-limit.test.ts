import { SettingError } from "#src/Config.ts"
import { makeMemoryStore } from "#src/shared/rate-limit-memory.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, FastCheck as fc, Layer, TestClock } from "effect"
import { settingsTest } from "../support/Settings.ts"

const memory = Layer.provide(RateLimit.Default, settingsTest())
const rule = { key: "ip 192.0.2.1", limit: 3, window: "1 minute" } as const

describe("rate limits in memory", () => {
  it.effect("count down in a window that starts with the first request, and refuse without counting", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000_000_000)
      const { consume } = yield* RateLimit
      const resetAt = 1_000_000_060
      assert.deepStrictEqual(yield* consume(rule), {
        limit: 3,
        remaining: 2,
        resetAt,
        allowed: true,
        retryAfterSeconds: 0
      })
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual((yield* consume(rule)).remaining, 1)
      assert.deepStrictEqual((yield* consume(rule)).remaining, 0)
      const refused = { limit: 3, remaining: 0, resetAt, allowed: false, retryAfterSeconds: 30 }
      assert.deepStrictEqual(yield* consume(rule), refused)
      assert.deepStrictEqual(yield* consume(rule), refused)
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* consume(rule), {
        limit: 3,
        remaining: 2,
        resetAt: resetAt + 60,
        allowed: true,
        retryAfterSeconds: 0
      })
    }).pipe(Effect.provide(memory)))

  it.effect("keep buckets apart, and refuse everything at a limit of 0", () =>
    Effect.gen(function*() {
      const { consume } = yield* RateLimit
      assert.isTrue((yield* consume({ ...rule, limit: 1 })).allowed)
      assert.isFalse((yield* consume({ ...rule, limit: 1 })).allowed)
      assert.isTrue((yield* consume({ ...rule, key: "ip 192.0.2.2", limit: 1 })).allowed)
      assert.deepStrictEqual(yield* consume({ ...rule, key: "none", limit: 0 }), {
        limit: 0,
        remaining: 0,
        resetAt: 60,
        allowed: false,
        retryAfterSeconds: 60
      })
    }).pipe(Effect.provide(memory)))

  it("allow the limit and no more in one window, for any limit and window", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 100_000 }), (limit, seconds) => {
        const states = Effect.runSync(
          Effect.flatMap(
            RateLimit,
            ({ consume }) =>
              Effect.replicateEffect(consume({ key: "k", limit, window: Duration.seconds(seconds) }), limit + 5)
          ).pipe(
            Effect.provide(memory)
          )
        )
        assert.strictEqual(states.filter(({ allowed }) => allowed).length, limit)
        assert.isTrue(states.every(({ remaining }) => remaining >= 0 && remaining < limit))
        assert.isTrue(
          states.every(({ allowed, retryAfterSeconds }) =>
            allowed ? retryAfterSeconds === 0 : retryAfterSeconds >= 1 && retryAfterSeconds <= seconds
          )
        )
      }),
      { numRuns: 50 }
    )
  })

  it.effect("forget windows that ended, and never hold more buckets than they may", () =>
    Effect.gen(function*() {
      const { size, store } = makeMemoryStore(1000)
      const hit = (key: string) => store.fixedWindow({ key, tokens: 1, limit: 10, refillRate: Duration.seconds(6) })
      for (let i = 0; i < 5000; i++) yield* hit(`flood ${i}`)
      assert.isAtMost(size(), 1000)
      const [count] = yield* hit("flood 4999")
      assert.strictEqual(count, 2, "the newest bucket is kept")
      yield* TestClock.adjust("1 minute")
      yield* hit("later")
      assert.strictEqual(size(), 1)
    }))
})

describe("REDIS_URL", () => {
  it.effect("of another form stops the start", () =>
    Effect.gen(function*() {
      const bad = Layer.provide(RateLimit.Default, settingsTest({ REDIS_URL: "localhost:6379" }))
      const error = yield* Effect.flip(Effect.provide(RateLimit, bad))
      assert.instanceOf(error, SettingError)
      assert.include(error.message, "REDIS_URL")
    }))
})
