import { UnmetSearches } from "#src/analytics/UnmetSearches.ts"
import { UnmetSearchesRepo } from "#src/analytics/UnmetSearchesRepo.ts"
import { JobsLive } from "#src/jobs/Live.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { DatabaseTest } from "../support/Database.ts"
import { settingsTest } from "../support/Settings.ts"

/** Under the test's clock nothing is written but when it is asked for, or when a batch waits. */
const unmet = Layer.provide(UnmetSearches.Default, [UnmetSearchesRepo.Default, JobsLive]).pipe(
  Layer.provideMerge(DatabaseTest),
  Layer.provide(settingsTest())
)

const search = { words: "", category: "", kind: "", verification: 0, city: "", state: "", square: -1 }
const day = 86_400_000

/** At a time of its own: jobs would make up for days that the test's clock skips. */
const atTime = (millis: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.withClock(
    effect,
    Object.assign(Object.create(Clock.make()) as Clock.Clock, {
      unsafeCurrentTimeMillis: () => millis,
      currentTimeMillis: Effect.succeed(millis)
    })
  )

layer(unmet, { timeout: 120_000 })((it) => {
  it.effect(
    "are bounded by place and by day, where those that are there already count on, and go after 90 days",
    () =>
      Effect.gen(function*() {
        const { flush, forget, record } = yield* UnmetSearches
        const sql = yield* SqlClient.SqlClient
        let asker = 0
        let today = Date.UTC(2026, 10, 23)
        const ask = (fields: Partial<typeof search>) =>
          Effect.provideService(
            atTime(today)(record({ ...search, ...fields })),
            CallerAddress,
            `10.1.${asker >> 8 & 255}.${asker++ & 255}`
          )
        const kept = (city: string) =>
          Effect.map(
            sql<
              { readonly rows: number; readonly n: number }
            >`SELECT count(*)::int AS rows, coalesce(sum(n), 0)::int AS n
            FROM unmet_searches WHERE city = ${city}`,
            ([row]) => [row?.rows, row?.n]
          )

        for (let i = 0; i < 300; i++) yield* ask({ city: "flood", words: `nonsense ${i}` })
        yield* flush
        assert.deepStrictEqual(yield* kept("flood"), [200, 200])
        // Two ways to write one search, and one that came too late.
        yield* ask({ city: "flood", words: "too late" })
        const [there] = yield* sql<{ readonly words: string }>`SELECT words FROM unmet_searches WHERE city = 'flood'`
        yield* ask({ city: " FLOOD", words: there?.words.toUpperCase() ?? "" })
        yield* flush
        assert.deepStrictEqual(yield* kept("flood"), [200, 201])

        // The day's bound holds whatever the places are; a new day has room again.
        for (let place = 0; place < 40; place++) {
          for (let i = 0; i < 150; i++) yield* ask({ city: `place ${place}`, words: `w${i}` })
        }
        yield* flush
        const ofDay = sql<
          { readonly rows: number }
        >`SELECT count(*)::int AS rows FROM unmet_searches GROUP BY day ORDER BY day`
        assert.deepStrictEqual((yield* ofDay).map(({ rows }) => rows), [5_000])
        today += day
        yield* ask({ city: "tomorrow", words: "bread" })
        yield* flush
        assert.deepStrictEqual((yield* ofDay).map(({ rows }) => rows), [5_000, 1])

        // Neither place nor kind, or nothing that was asked for: nobody could learn from it.
        const before = yield* ofDay
        for (
          const fields of [{ words: "x" }, { city: "y" }, { state: "co" }, { square: 3 }, { city: "y", words: "@" }]
        ) {
          yield* ask(fields)
        }
        yield* flush
        assert.deepStrictEqual(yield* ofDay, before)

        today += 89 * day
        yield* atTime(today)(forget)
        assert.deepStrictEqual((yield* ofDay).map(({ rows }) => rows), [5_000, 1])
        today += day
        yield* atTime(today)(forget)
        assert.deepStrictEqual((yield* ofDay).map(({ rows }) => rows), [1])
      }),
    120_000
  )
})
