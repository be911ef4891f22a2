import { SettingError } from "#src/config/Settings.ts"
import { makeMemoryStore } from "#src/shared/rate-limit-memory.ts"
import { together } from "#src/shared/rate-limit-together.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Duration, Effect, FastCheck as fc, Layer, TestClock } from "effect"
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

  it.live("let 1,000 of 10,000 through that come at once", () =>
    Effect.gen(function*() {
      const { consume } = yield* RateLimit
      const states = yield* Effect.all(Array.from({ length: 10_000 }, () => consume({ ...rule, limit: 1_000 })), {
        concurrency: "unbounded"
      })
      assert.strictEqual(states.filter(({ allowed }) => allowed).length, 1_000)
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

  it.effect("count a request in several buckets or in none, and tell of the tighter one", () =>
    Effect.gen(function*() {
      const { consume } = yield* RateLimit
      const account = { key: "account", limit: 3, window: "1 minute" } as const
      const [one, two] = [{ ...account, key: "one", limit: 2 }, { ...account, key: "two" }]
      assert.deepInclude(yield* consume(account, one), { limit: 2, remaining: 1, allowed: true })
      yield* TestClock.adjust("20 seconds")
      assert.deepInclude(yield* consume(account, one), { limit: 2, remaining: 0, allowed: true })
      assert.deepInclude(yield* consume(account, one), { limit: 2, allowed: false, retryAfterSeconds: 40 })
      assert.deepInclude(yield* consume(account, two), { limit: 3, remaining: 0, allowed: true })
      assert.deepInclude(yield* consume(account, two), { limit: 3, allowed: false, retryAfterSeconds: 40 })
      assert.deepInclude(yield* consume(two), { remaining: 1 }, "a refused request was counted nowhere")
      yield* TestClock.adjust("40 seconds")
      assert.deepInclude(
        yield* consume(account, two),
        { limit: 3, remaining: 0, allowed: true },
        "two has its own minute"
      )
    }).pipe(Effect.provide(memory)))

  it("never let any bucket have more than its limit, in whatever mix of buckets the requests come", () => {
    const names = ["a", "b", "c"] as const
    const limits = fc.record({ a: fc.nat(8), b: fc.nat(8), c: fc.nat(8) })
    const requests = fc.array(fc.subarray([...names], { minLength: 1 }), { maxLength: 40 })
    fc.assert(fc.property(limits, requests, (limits, requests) => {
      const counted = { a: 0, b: 0, c: 0 }
      const { store } = makeMemoryStore()
      for (const request of requests) {
        const buckets = request.map((key) => ({ key, limit: limits[key], windowMillis: 60_000 }))
        const fits = request.every((key) => counted[key] < limits[key])
        const counts = Effect.runSync(store.take(buckets)).map(({ count }) => count)
        assert.deepEqual(counts, request.map((key) => counted[key] + 1))
        if (fits) { for (const key of request) counted[key]++ }
      }
    }))
  })

  it.effect("forget windows that ended, and never hold more buckets than they may", () =>
    Effect.gen(function*() {
      const { size, store } = makeMemoryStore(1000)
      const hit = (key: string) => store.take([{ key, limit: 10, windowMillis: 60_000 }])
      for (let i = 0; i < 5000; i++) yield* hit(`flood ${i}`)
      assert.isAtMost(size(), 1000)
      const [newest] = yield* hit("flood 4999")
      assert.strictEqual(newest?.count, 2, "the newest bucket is kept")
      yield* TestClock.adjust("1 minute")
      yield* hit("later")
      assert.strictEqual(size(), 1)
    }))
})

describe("requests that are counted together", () => {
  const bucket = fc.record({ key: fc.constantFrom("a", "b", "c"), limit: fc.integer({ min: 0, max: 9 }) })
  const buckets = fc.uniqueArray(bucket, { minLength: 1, maxLength: 2, selector: ({ key }) => key })
    .map((list) => list.map((each) => ({ ...each, limit: each.key.charCodeAt(0) - 93, windowMillis: 1_000 })))

  it("get the answers that they would get one by one", () =>
    fc.assert(fc.asyncProperty(fc.array(buckets, { maxLength: 40 }), async (requests) => {
      const stored = new Map<string, number>()
      let calls = 0
      const take = together(async (asked, count) => {
        calls++
        await new Promise((resolve) => setImmediate(resolve))
        const before = asked.map(({ key }) => stored.get(key) ?? 0)
        const room = Math.min(...asked.map(({ limit }, at) => limit - before[at]!))
        const granted = Math.max(0, Math.min(count, room))
        for (const [at, { key }] of asked.entries()) stored.set(key, before[at]! + granted)
        return { granted, counts: before.map((count) => ({ count, millisLeft: 1_000 })) }
      })
      const answers = await Promise.all(requests.map(take))
      // In the order in which they were counted: those of the same buckets together.
      const model = makeMemoryStore().store
      const groups = Object.values(
        Arr.groupBy(requests.map((asked, at) => ({ asked, at })), ({ asked }) => JSON.stringify(asked))
      )
      assert.isAtMost(calls, groups.length)
      for (const { asked, at } of groups.flat()) {
        const expected = await Effect.runPromise(model.take(asked))
        assert.deepStrictEqual(answers[at]!.map(({ count }) => count), expected.map(({ count }) => count))
      }
    })))

  it("fail together, and the next are counted again", async () => {
    let works = false
    const take = together((asked, granted) =>
      works
        ? Promise.resolve({ granted, counts: asked.map(() => ({ count: 0, millisLeft: 1 })) })
        : Promise.reject("away")
    )
    const asked = [{ key: "a", limit: 5, windowMillis: 1 }]
    const failed = await Promise.allSettled([take(asked), take(asked)])
    assert.deepStrictEqual(failed.map(({ status }) => status), ["rejected", "rejected"])
    works = true
    assert.deepStrictEqual(await take(asked), [{ count: 1, millisLeft: 1 }])
  })
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
