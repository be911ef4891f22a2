import { RateLimit } from "#src/shared/RateLimit.ts"
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer, Logger, Schedule } from "effect"
import { freshDatabaseUrl } from "../support/Database.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { freePort, redisCommand, redisServer } from "../support/redis.ts"
import { settingsTest } from "../support/Settings.ts"
import { counter } from "../usage/support/counting.ts"

/** An instance of its own, kept until the scope closes. */
const instance = (port: number) =>
  Layer.build(Layer.provide(RateLimit.Default, settingsTest({ REDIS_URL: `redis://127.0.0.1:${port}/0` }))).pipe(
    Effect.flatMap((context) => Effect.provide(RateLimit, context))
  )
const rule = { key: "account 1", limit: 5, window: "1 minute" } as const

describeWhen(missingProgram("redis-server"), "rate limits in Redis", () => {
  it.scopedLive("are shared by instances that count at the same time", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      yield* redisServer(port)
      const [one, two] = [yield* instance(port), yield* instance(port)]
      const states = yield* Effect.all(
        Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? one : two).consume({ ...rule, limit: 25 })),
        { concurrency: "unbounded" }
      )
      const allowed = states.filter((state) => state.allowed).map(({ remaining }) => remaining)
      assert.deepStrictEqual(allowed.sort((a, b) => b - a), Array.from({ length: 25 }, (_, i) => 24 - i))
      for (const { resetAt, retryAfterSeconds } of states.filter((state) => !state.allowed)) {
        assert.isAtLeast(retryAfterSeconds, 1)
        assert.isAtMost(retryAfterSeconds, 60)
        assert.isAtMost(Math.abs(resetAt - Date.now() / 1000 - 60), 3)
      }
    }))

  it.scopedLive("let 1,000 of 10,000 through that two processes count at once", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      yield* redisServer(port)
      const variables = { DATABASE_URL: yield* freshDatabaseUrl, REDIS_URL: `redis://127.0.0.1:${port}/0` }
      const [one, two] = yield* Effect.all([counter(variables), counter(variables)], { concurrency: "unbounded" })
      const question = { _tag: "Minute", key: "account 3", limit: 1_000, requests: 5_000 } as const
      const passed = yield* Effect.promise(() => Promise.all([one.ask(question), two.ask(question)]))
      assert.strictEqual(passed[0] + passed[1], 1_000)
    }), 60_000)

  it.scopedLive("count a request in several buckets or in none, in one step", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      yield* redisServer(port)
      const [one, two] = [yield* instance(port), yield* instance(port)]
      const account = { key: "account 2", limit: 20, window: "1 minute" } as const
      const key = (n: number) => ({ key: `key ${n}`, limit: 15, window: "1 minute" } as const)
      const states = yield* Effect.all(
        Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? one : two).consume(account, key(i % 3))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(states.filter(({ allowed }) => allowed).length, 20)
      const left = yield* Effect.all(
        [0, 1, 2].map((n) => Effect.map(one.consume(key(n)), ({ remaining }) => remaining))
      )
      assert.strictEqual(left.reduce((sum, remaining) => sum + 15 - 1 - remaining, 0), 20, "refused ones count nowhere")
    }))

  it.scopedLive("end with their window, which does not grow with use", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      yield* redisServer(port)
      const { consume } = yield* instance(port)
      const short = { key: "short", limit: 2, window: "600 millis" } as const
      assert.strictEqual((yield* consume(short)).remaining, 1)
      yield* Effect.sleep("400 millis")
      assert.strictEqual((yield* consume(short)).remaining, 0)
      assert.isFalse((yield* consume(short)).allowed)
      yield* Effect.sleep("300 millis")
      assert.strictEqual((yield* consume(short)).remaining, 1)
    }))

  it.scopedLive(
    "are told in the log once when Redis hangs or refuses, and once when it works; nobody waits in a row",
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const server = yield* redisServer(port)
        const lines = new Array<string>()
        const logger = Logger.make(({ message }) => void lines.push(String(message)))
        const { consume } = yield* Effect.provide(instance(port), Logger.replace(Logger.defaultLogger, logger))
        const failures = Effect.all(
          Array.from({ length: 20 }, () => Effect.flip(consume(rule))),
          { discard: true }
        )
        const works = Effect.retry(consume(rule), { times: 50, schedule: Schedule.spaced("100 millis") })
        yield* works
        server.kill("SIGSTOP")
        const [took] = yield* Effect.timed(failures)
        assert.isBelow(Duration.toMillis(took), 10_000, "one of them waited for its second, and not all twenty")
        server.kill("SIGCONT")
        yield* works
        yield* redisCommand(port, ["CONFIG", "SET", "maxmemory", "1"])
        yield* failures
        yield* redisCommand(port, ["CONFIG", "SET", "maxmemory", "0"])
        yield* works
        assert.deepStrictEqual(
          lines.map((line) => line.replace(/\(.*\)/, "(…)").replace(/: until.*/, "")),
          Array.from({ length: 2 }, () => ["REDIS_URL: Redis does not work (…)", "Redis works again"]).flat()
        )
        assert.include(lines[2], "OOM")
      }),
    30_000
  )

  it.scopedLive("start without Redis, tell that it is away at once, and come back by themselves", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const { consume } = yield* instance(port)
      const [took, error] = yield* Effect.timed(Effect.flip(consume(rule)))
      assert.strictEqual(error._tag, "RateLimitUnavailable")
      assert.isBelow(Duration.toMillis(took), 500)

      const reached = Effect.retry(consume(rule), { times: 50, schedule: Schedule.spaced("100 millis") })
      yield* Effect.scoped(Effect.andThen(redisServer(port), reached))
      assert.strictEqual((yield* Effect.flip(consume(rule)))._tag, "RateLimitUnavailable")
      yield* redisServer(port)
      assert.strictEqual((yield* reached).remaining, 4, "a new Redis has counted nothing")
    }))
})
