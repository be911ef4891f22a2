import { AccountId, type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Composites } from "#src/composites/Composites.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { type Clock, Effect, Either } from "effect"
import { services } from "../deployments/support/services.ts"
import { DatabaseTest } from "../support/Database.ts"
import { settingsTest } from "../support/Settings.ts"

const byKey: Actor = {
  accountId: AccountId.make("u"),
  email: "u@example.com",
  plan: "free",
  credential: { kind: "hub", id: "k", tier: "builder", usedToday: 1, resetAt: 0 }
}
const day = 86_400_000

/** The work at a time so many milliseconds from now. */
const later = (millis: number) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.clock, (clock) =>
    Effect.withClock(
      work,
      Object.assign(Object.create(clock) as Clock.Clock, {
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (at) => at + millis),
        unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() + millis
      })
    ))

const create = Effect.flatMap(
  Composites,
  (composites) => composites.create({ name: "x", description: "", query_definition: { city: "Denver" } })
)
const ids = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => Effect.map(sql<{ id: string }>`SELECT id FROM composites ORDER BY id`, (rows) => rows.map(({ id }) => id))
)
const purge = Effect.flatMap(Composites, (composites) => composites.purge)
const promote = (id: string) => Effect.flatMap(Composites, (composites) => composites.promote(id))

layer(services(DatabaseTest, settingsTest()), { excludeTestServices: true, timeout: 60_000 })((it) => {
  it.effect("the daily purge removes what has expired, and nothing else", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO users (id, email, password_hash) VALUES ('u', 'u@example.com', '')`
      const [old, kept] = [yield* create, yield* create]
      const young = yield* later(2 * day)(create)
      yield* promote(kept.id)
      yield* later(30 * day - 60_000)(purge)
      assert.deepStrictEqual(yield* ids, [old.id, kept.id, young.id])
      yield* later(30 * day + 60_000)(purge)
      assert.deepStrictEqual(yield* ids, [kept.id, young.id])
      yield* later(33 * day)(purge)
      assert.deepStrictEqual(yield* ids, [kept.id])
    }).pipe(Effect.provideService(CurrentActor, byKey)))

  it.effect("a promotion in the last moment and the purge: one of them has it, whole", () =>
    Effect.gen(function*() {
      yield* (yield* SqlClient.SqlClient)`DELETE FROM composites`
      const made = yield* Effect.replicateEffect(create, 40)
      // Those that promote believe that there is a minute left; the purge comes a minute after.
      const promoted = yield* Effect.forEach(
        made.map(({ id }, at) => [id, at] as const),
        ([id, at]) =>
          at % 10 === 5
            ? Effect.as(later(30 * day + 60_000)(purge), undefined)
            : Effect.either(later(30 * day - 60_000)(promote(id))),
        { concurrency: 8 }
      )
      yield* later(30 * day + 60_000)(purge)
      const left = new Set(yield* ids)
      for (const [at, { id }] of made.entries()) {
        const outcome = promoted[at]
        const isPromoted = outcome !== undefined && Either.isRight(outcome)
        assert.strictEqual(left.has(id), isPromoted, `${at}`)
        if (outcome !== undefined && Either.isLeft(outcome)) assert.strictEqual(outcome.left._tag, "CompositeNotFound")
      }
      assert.isAbove(left.size, 0)
      assert.isBelow(left.size, 40)
    }).pipe(Effect.provideService(CurrentActor, byKey)))
})
