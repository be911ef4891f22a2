import { MaintenanceLive } from "#src/operations/Maintenance.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, TestClock, TestContext, TestServices } from "effect"
import { services } from "../deployments/support/services.ts"
import { DatabaseTest } from "../support/Database.ts"
import { settingsTest } from "../support/Settings.ts"

/** Previews by the minute at which they expire; the clock begins at 0. */
const previews = (...minutes: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO users (id, email, password_hash) VALUES ('u', 'u@example.com', '')`
    yield* sql`INSERT INTO projects (id, account_id, name, slug) VALUES ('p', 'u', 'P', 'p')`
    yield* sql`INSERT INTO businesses (id, project_id, name, slug, industry, template_type)
      VALUES ('b', 'p', 'B', 'b', 'custom', 'custom')`
    for (const minute of minutes) {
      yield* sql`INSERT INTO import_previews (id, business_id, source_format, plan, warnings_count, expires_at)
        VALUES (${String(minute)}, 'b', 'csv', '{}', 0, ${new Date(minute * 60_000)})`
    }
  })

const left = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    Effect.map(
      sql<{ id: string }>`SELECT id FROM import_previews ORDER BY expires_at`,
      (rows) => rows.map(({ id }) => id)
    )
)

/** What is left once the job, which asks a real database, is through. */
const settled = (expected: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    for (let tries = 0; tries < 200 && (yield* left).length > expected.length; tries++) {
      yield* TestServices.provideLive(Effect.sleep("25 millis"))
    }
    yield* TestServices.provideLive(Effect.sleep("100 millis"))
    assert.deepStrictEqual(yield* left, expected)
  })

layer(services(DatabaseTest, settingsTest()), { excludeTestServices: true, timeout: 60_000 })((it) => {
  it.scoped("previews are dropped by the hour, once they have been expired for an hour", () =>
    Effect.gen(function*() {
      yield* Layer.build(MaintenanceLive)
      yield* previews(-90, -61, -30, 0, 30)
      yield* TestClock.adjust("59 seconds")
      yield* settled(["-90", "-61", "-30", "0", "30"])
      yield* TestClock.adjust("1 second")
      yield* settled(["-30", "0", "30"])
      yield* TestClock.adjust("59 minutes")
      yield* settled(["-30", "0", "30"])
      // The second time is an hour and a minute after the first: what expired an hour before that is due.
      yield* TestClock.adjust("3 minutes")
      yield* settled(["30"])
      // The jobs alone are on the test's clock: the services below have begun by the real one.
    }).pipe(Effect.provide(TestContext.TestContext)), 60_000)
})
