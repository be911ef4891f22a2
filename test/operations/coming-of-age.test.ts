import { Directory } from "#src/directory/Directory.ts"
import { MaintenanceLive } from "#src/operations/Maintenance.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, TestClock, TestContext, TestServices } from "effect"
import { services } from "../deployments/support/services.ts"
import { DatabaseTest } from "../support/Database.ts"
import { settingsTest } from "../support/Settings.ts"

const minute = 60_000
const day = 24 * 60 * minute

/** A business with a confirmed number, shown in the directory, whose account is five minutes short of 30 days at the start. */
const business = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO users (id, email, password_hash, created_at)
    VALUES ('u', 'u@example.com', '', ${new Date(-30 * day + 5 * minute)})`
  yield* sql`INSERT INTO projects (id, account_id, name, slug) VALUES ('p', 'u', 'P', 'p')`
  yield* sql`INSERT INTO businesses (id, project_id, name, slug, industry, template_type, phone, verified_phone,
      phone_verified_at, verification_level)
    VALUES ('b', 'p', 'Copper Ladle', 'b', 'custom', 'custom', '+15550100', '+15550100', now(), 'phone_verified')`
  yield* sql`INSERT INTO listings (id, business_id, name, description, business_name, business_slug, industry,
      template_type, city, state, tier, verification_tier, status, relevance_score)
    VALUES ('01ARZ3NDEKTSV4RRFFQ69G5FAV', 'b', 'Copper Ladle', '', 'B', 'b', 'custom', 'custom', '', '', 'basic', 1,
      'active', 200)`
})

const verified = Effect.flatMap(
  Directory,
  (directory) =>
    Effect.map(
      directory.list({ limit: 20, min_verification: "business_verified" }),
      ({ data }) => data.map(({ relevanceScore, verificationLevel }) => ({ relevanceScore, verificationLevel }))
    )
)

layer(services(DatabaseTest, settingsTest()), { excludeTestServices: true, timeout: 60_000 })((it) => {
  it.scoped(
    "a business is verified in the directory within a minute after its account is 30 days old",
    () =>
      Effect.gen(function*() {
        yield* business
        yield* Layer.build(MaintenanceLive)
        yield* TestClock.adjust(5 * minute - 1)
        yield* TestServices.provideLive(Effect.sleep("100 millis"))
        assert.deepStrictEqual(yield* verified, [])
        // The job asks a real database, and is on the test's clock otherwise.
        yield* TestClock.adjust("1 minute")
        for (let tries = 0; tries < 400 && (yield* verified).length === 0; tries++) {
          yield* TestServices.provideLive(Effect.sleep("25 millis"))
        }
        const [found] = yield* verified
        assert.strictEqual(found?.verificationLevel, "business_verified")
        assert.isAtLeast(found?.relevanceScore ?? 0, 400)
      }).pipe(Effect.provide(TestContext.TestContext)),
    60_000
  )
})
