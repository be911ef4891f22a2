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

  it("are registered, every file of them, with numbers that follow each other", () => {
    const files = readdirSync("sql/migrations").map((file) => file.replace(/\.ts$/, "")).sort()
    assert.deepStrictEqual(Object.keys(migrations).sort(), files)
    assert.deepStrictEqual(files.map((name) => Number(name.slice(0, 4))), files.map((_, index) => index + 1))
  })

  it.scopedLive("go on where the database stands", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabaseUrl
      yield* Effect.provide(migrate(one), on(url))
      yield* Effect.provide(migrate(two), on(url))
      assert.lengthOf(yield* Effect.provide(ask("SELECT * FROM one, two"), on(url)), 0)
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
