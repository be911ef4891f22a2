import { Events } from "#src/analytics/Events.ts"
import { EventsRepo } from "#src/analytics/EventsRepo.ts"
import { JobsLive } from "#src/jobs/Live.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Layer, Logger, Metric, MetricState, Scope } from "effect"
import { DatabaseTest } from "../support/Database.ts"
import { settingsTest } from "../support/Settings.ts"

/** Under the test's clock nothing is written but when it is asked for. */
const events = Layer.provide(Events.Default, [EventsRepo.Default, JobsLive]).pipe(
  Layer.provideMerge(DatabaseTest),
  Layer.provide(settingsTest())
)

/** The most different counts that wait, and one listing that there is. */
const capacity = 50_000
const listed = "01J0000000000000000000LIST"

const newListing = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO users (id, email, password_hash) VALUES ('u', 'u@example.com', '')
    ON CONFLICT DO NOTHING`
  yield* sql`INSERT INTO projects (id, account_id, name, slug) VALUES ('p', 'u', 'P', 'p')
    ON CONFLICT DO NOTHING`
  yield* sql`INSERT INTO businesses (id, project_id, name, slug, industry, template_type)
    VALUES ('b', 'p', 'B', 'b', 'custom', 'custom')`
  yield* sql`INSERT INTO listings (id, business_id, name, description, business_name, business_slug, industry,
      template_type, city, state, tier, verification_tier)
    VALUES (${listed}, 'b', 'B', '', 'B', 'b', 'custom', 'custom', '', '', 'basic', 0)`
})

/** What the log says while something is done. */
const heard = <E, R>(work: Effect.Effect<unknown, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const listener = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
    return Effect.as(Effect.provide(work, Logger.replace(Logger.defaultLogger, listener)), lines)
  })

/** How many were ever dropped, as a collector is told. */
const droppedEver = Effect.map(Metric.snapshot, (pairs) => {
  const states = pairs.flatMap(({ metricKey, metricState }) =>
    metricKey.name === "berth.write_behind.dropped" && metricKey.tags.some(({ value }) => value === "events") &&
      MetricState.isCounterState(metricState)
      ? [Number(metricState.count)]
      : []
  )
  return states[0] ?? 0
})

const others = (count: number) => Array.from({ length: count }, (_, at) => `nobody ${at}`)

layer(events, { timeout: 60_000 })((it) => {
  it.effect(
    "events beyond the most that wait are dropped, and told by their number when the rest is written",
    () =>
      Effect.gen(function*() {
        const { flush, forget, record, waiting } = yield* Events
        yield* newListing
        const before = yield* droppedEver
        yield* record("view", [listed])
        yield* record("view", others(capacity + 299))
        assert.strictEqual(waiting(), capacity)
        // What is counted already counts on: it takes no more room.
        yield* record("view", [listed, listed])
        yield* record("click", [listed])
        assert.strictEqual(waiting(), capacity)
        assert.deepStrictEqual(yield* heard(flush), ["301 events were dropped: too many wait to be written"])
        assert.strictEqual(waiting(), 0)
        assert.strictEqual((yield* droppedEver) - before, 301)
        const sql = yield* SqlClient.SqlClient
        const counted = sql`SELECT kind, n::int FROM listing_events WHERE listing_id = ${listed} ORDER BY kind`
        assert.deepStrictEqual(yield* counted, [{ kind: "view", n: 3 }])
        // There is room again, and each number is told once.
        yield* record("click", [listed])
        assert.deepStrictEqual(yield* heard(flush), [])
        assert.deepStrictEqual(yield* counted, [{ kind: "click", n: 1 }, { kind: "view", n: 3 }])

        // And nothing is left of a business that is gone.
        yield* sql`DELETE FROM businesses WHERE id = 'b'`
        yield* forget
        assert.deepStrictEqual(yield* counted, [])
        assert.deepStrictEqual(yield* sql`SELECT FROM business_interactions`, [])
      }),
    60_000
  )
  it.effect(
    "are written as soon as a batch waits, and at the end of the program; each event once",
    () =>
      Effect.gen(function*() {
        const { record, waiting } = yield* Events
        const sql = yield* SqlClient.SqlClient
        yield* newListing
        const counted = Effect.map(
          sql<
            { readonly n: number }
          >`SELECT coalesce(sum(n), 0)::int AS n FROM listing_events WHERE listing_id = ${listed}`,
          ([row]) => row?.n
        )
        yield* record("view", [listed])
        yield* record("view", others(4_998))
        assert.strictEqual(yield* counted, 0)
        yield* record("view", others(4_999))
        // Nobody asks, and the test's clock stands still.
        const written = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50))).pipe(
          Effect.zipRight(Effect.sync(waiting)),
          Effect.repeat({ until: (rows) => rows === 0 })
        )
        yield* Effect.timeout(Effect.withClock(written, Clock.make()), "10 seconds")
        assert.strictEqual(yield* counted, 1)

        const scope = yield* Scope.make()
        const own = Layer.fresh(Layer.provide(Events.Default, [EventsRepo.Default, JobsLive]))
        const context = yield* Layer.buildWithScope(Layer.provide(own, settingsTest()), scope)
        yield* Context.get(context, Events).record("view", [listed])
        assert.strictEqual(yield* counted, 1)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* counted, 2)
      }),
    60_000
  )
})
