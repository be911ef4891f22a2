import { clientLayer } from "#sql/Client.ts"
import { migrate, MigrationsLive } from "#sql/Migrate.ts"
import { migrations } from "#sql/migrations.ts"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { readdirSync } from "node:fs"
import { emptyDatabaseUrl } from "../support/Database.ts"

const ask = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Record<string, unknown>>(statement))
const statement = (text: string) => Effect.asVoid(ask(text))
const on = (url: string) => clientLayer(Redacted.make(url), 3)
const one = { "0001_one": statement("CREATE TABLE one (id integer)") }
const two = { ...one, "0002_two": statement("CREATE TABLE two (id integer)") }

describe("migrations", () => {
  it.scopedLive("make an empty database complete, by several processes at once, and each only once", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabaseUrl
      const start = Effect.scoped(Layer.build(Layer.provide(MigrationsLive, on(url))))
      yield* Effect.all([start, start, start, start], { concurrency: "unbounded" })
      const rows = yield* Effect.provide(ask("SELECT name FROM berth_migrations ORDER BY migration_id"), on(url))
      assert.deepStrictEqual(rows.map(({ name }) => name), Object.keys(migrations).map((name) => name.slice(5)))
    }))

  it("are registered, every file of them, each with a number of its own", () => {
    const files = readdirSync("sql/migrations").map((file) => file.replace(/\.ts$/, "")).sort()
    assert.deepStrictEqual(Object.keys(migrations).sort(), files)
    assert.strictEqual(new Set(files.map((name) => Number(name.slice(0, 4)))).size, files.length)
  })

  it.scopedLive("go on where the database stands", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabaseUrl
      yield* Effect.provide(migrate(one), on(url))
      yield* Effect.provide(migrate(two), on(url))
      assert.lengthOf(yield* Effect.provide(ask("SELECT * FROM one, two"), on(url)), 0)
    }))

  it.scopedLive("find again what an installation already shows in its directory", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabaseUrl
      const released = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0005"))
      yield* Effect.provide(migrate(released), on(url))
      yield* Effect.provide(
        ask(`INSERT INTO users (id, email, password_hash) VALUES ('u', 'u@example.com', '');
          INSERT INTO projects (id, account_id, name, slug) VALUES ('p', 'u', 'P', 'p');
          INSERT INTO businesses (id, project_id, name, slug, industry, template_type, zip, country)
            VALUES ('b', 'p', 'B', 'b', 'bakery', 'retail', '80202-1234', 'USA');
          INSERT INTO listings (id, business_id, name, description, business_name, business_slug, industry, template_type,
            city, state, tier, verification_tier, status, categories)
            VALUES ('l', 'b', 'Crumb Hall', '', 'B', 'b', 'bakery', 'retail', 'Suva', 'Fiji', 'basic', 0, 'active', '{Bread}');
          INSERT INTO listing_events VALUES ('l', '2026-01-01', 'view', 3);
          INSERT INTO business_interactions VALUES ('b', 3)`),
        on(url)
      )
      yield* Effect.provide(migrate(migrations), on(url))
      const found = ask(
        `SELECT ARRAY(SELECT word FROM directory_vocabulary v JOIN unnest(terms) AS t ON t = v.id ORDER BY 1) AS words,
          cardinality(terms) AS terms, word_count, cardinality(labels) AS labels,
          (SELECT sum(n)::int FROM directory_place_counts WHERE label_id = 0) AS placed,
          (SELECT sum(n)::int FROM directory_word_counts WHERE word !~ '[*]') AS worded,
          (SELECT sum(n)::int FROM directory_word_counts WHERE word ~ '[*]') AS begun,
          (SELECT count(*)::int FROM directory_postings) AS postings,
          (SELECT sum(n)::int FROM directory_counts WHERE category = '' AND state IS NULL) AS counted
        FROM directory_entries`
      )
      const entry = {
        words: ["crumb", "hall"],
        wordCount: 2,
        terms: 5,
        labels: 3,
        placed: 1,
        worded: 5,
        begun: 15,
        postings: 5,
        counted: 1
      }
      assert.deepStrictEqual(yield* Effect.provide(found, on(url)), [entry])
      const [place] = yield* Effect.provide(
        ask(
          "SELECT l.latitude::int AS latitude, is_place_approximate, cell IS NOT NULL AS on_map FROM listings l, directory_entries"
        ),
        on(url)
      )
      assert.deepStrictEqual(place, { latitude: 40, isPlaceApproximate: true, onMap: true })
      // And follows from there on; what happened is kept.
      yield* Effect.provide(statement("DELETE FROM businesses"), on(url))
      assert.deepStrictEqual(yield* Effect.provide(found, on(url)), [])
      assert.lengthOf(yield* Effect.provide(ask("SELECT FROM listing_events, directory_gone"), on(url)), 1)
    }))

  it.scopedLive("leave nothing behind when one fails, and say which and why in a sentence", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabaseUrl
      const broken = { ...one, "0002_broken": statement("CREATE TABLE broken (id nonsense)") }
      const error = yield* Effect.flip(Effect.provide(migrate(broken), on(url)))
      assert.strictEqual(error._tag, "DatabaseError")
      assert.match(error.message, /2_broken" failed: type "nonsense" does not exist/)
      const [row] = yield* Effect.provide(ask("SELECT to_regclass('one') AS one"), on(url))
      assert.deepStrictEqual(row, { one: null })
    }))

  it.scopedLive("let an older version run on a newer database", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabaseUrl
      yield* Effect.provide(migrate(two), on(url))
      yield* Effect.provide(migrate(one), on(url))
      assert.lengthOf(yield* Effect.provide(ask("SELECT * FROM two"), on(url)), 0)
    }))
})
