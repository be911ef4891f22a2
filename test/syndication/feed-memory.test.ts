import { BusinessFeed } from "#src/syndication/BusinessFeed.ts"
import { BusinessFeedRepo } from "#src/syndication/BusinessFeedRepo.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect, Either, Layer } from "effect"
import { DatabaseTest } from "../support/Database.ts"
import { settingsTest } from "../support/Settings.ts"

const services = Layer.provide(BusinessFeed.Default, BusinessFeedRepo.Default).pipe(
  Layer.provideMerge(BusinessFeedRepo.Default),
  Layer.provideMerge(DatabaseTest),
  Layer.provide(settingsTest())
)

const ids = ["01J00000000000000000000FEA", "01J00000000000000000000FEB"]

const twoListings = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO users (id, email, password_hash) VALUES ('u', 'u@example.com', '')`
  yield* sql`INSERT INTO projects (id, account_id, name, slug) VALUES ('p', 'u', 'P', 'p')`
  for (const id of ids) {
    yield* sql`INSERT INTO businesses (id, project_id, name, slug, industry, template_type)
      VALUES (${id}, 'p', 'B', ${id.toLowerCase()}, 'custom', 'custom')`
    yield* sql`INSERT INTO listings (id, business_id, name, description, business_name, business_slug, industry,
        template_type, city, state, tier, verification_tier, status)
      VALUES (${id}, ${id}, 'B', '', 'B', ${id.toLowerCase()}, 'custom', 'custom', '', '', 'basic', 0, 'active')`
  }
})

layer(services, { timeout: 60_000 })((it) => {
  it.effect("removals are forgotten after 90 days; who might not know of one begins anew, and so does everybody after a restore", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const feed = yield* BusinessFeed
      const repo = yield* BusinessFeedRepo
      const past = (xid: string) =>
        sql<{ ended: boolean }>`SELECT pg_snapshot_xmin(pg_current_snapshot()) > ${xid}::xid8 AS ended`
      // Transactions of other tests count, too.
      const settled = Effect.flatMap(
        sql<{ xid: string }>`SELECT pg_current_xact_id()::text AS xid`,
        ([now]) => Effect.repeat(past(now?.xid ?? ""), { until: ([row]) => row?.ended === true })
      )
      const read = (token?: string) =>
        Effect.zipRight(
          settled,
          Effect.either(feed.read({ limit: 100, ...(token === undefined ? {} : { changes_token: token }) }))
        )
      const tokenOf = (result: Effect.Effect.Success<ReturnType<typeof read>>) =>
        Either.isRight(result) ? result.right.meta.changes_token : ""
      const namesOf = (result: Effect.Effect.Success<ReturnType<typeof read>>) =>
        Either.isRight(result) ? result.right.data.map(({ id, status }) => `${status} ${id}`) : [result.left._tag]
      yield* twoListings

      const before = tokenOf(yield* read())
      yield* sql`UPDATE listings SET status = 'pending' WHERE id = ${ids[0]}`
      const after = tokenOf(yield* read(before))
      assert.deepStrictEqual(namesOf(yield* read(before)), [`removed ${ids[0]}`])
      yield* feed.forget
      assert.deepStrictEqual(namesOf(yield* read(before)), [`removed ${ids[0]}`])
      yield* sql`UPDATE feed_changes SET removed_at = now() - interval '91 days' WHERE removed_at IS NOT NULL`
      yield* feed.forget
      assert.deepStrictEqual(namesOf(yield* read(before)), ["ChangesTokenExpired"])
      assert.deepStrictEqual(namesOf(yield* read(after)), [])
      assert.deepStrictEqual(namesOf(yield* read()), [`listed ${ids[1]}`])

      // As a backup of another installation has it, whose transactions were ahead of this one's.
      yield* sql`UPDATE feed_state SET cluster = 'ffffffffffffffff', forgotten = '9999999999'`
      yield* sql`UPDATE feed_changes SET xid = '9999999999'`
      assert.deepStrictEqual(namesOf(yield* read(after)), ["ChangesTokenExpired"])
      yield* repo.settle
      assert.deepStrictEqual(namesOf(yield* read()), [`listed ${ids[1]}`])
    }))
})
