import { SqlClient } from "@effect/sql"
import { withTransformer } from "@effect/sql/Statement"
import { assert, layer } from "@effect/vitest"
import { Effect, Tracer } from "effect"
import { DatabaseTest } from "../support/Database.ts"

/** Runs it where traces are collected or not; the names of the spans that were made. */
const spansOf = <A, E, R>(isTraced: boolean, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const names: Array<string> = []
    const usual = yield* Effect.tracer
    const span: Tracer.Tracer["span"] = (name, ...rest) => {
      names.push(name)
      return usual.span(name, ...rest)
    }
    yield* work.pipe(Effect.withTracer(Tracer.make({ ...usual, span })), Effect.withTracerEnabled(isTraced))
    return names
  })

layer(DatabaseTest)("a statement, whether traces are collected or not", (it) => {
  for (const isTraced of [true, false]) {
    it.effect(`answers the same (${isTraced ? "traced" : "not traced"})`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const names = yield* spansOf(
          isTraced,
          Effect.gen(function*() {
            assert.deepStrictEqual(yield* sql`SELECT ${1}::int AS some_name`, [{ someName: 1 }])
            const error = yield* Effect.flip(sql`SELECT no_column`)
            assert.strictEqual(error._tag, "SqlError")
          })
        )
        assert.deepStrictEqual(names, isTraced ? ["sql.execute", "sql.execute"] : [])
      }))

    it.effect(`belongs to its transaction (${isTraced ? "traced" : "not traced"})`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const table = sql(`kept_${isTraced}`)
        yield* sql`CREATE TABLE ${table} (n int)`
        const failed = sql.withTransaction(Effect.zipRight(sql`INSERT INTO ${table} VALUES (1)`, Effect.fail("no")))
        yield* spansOf(isTraced, Effect.flip(failed))
        yield* spansOf(isTraced, sql.withTransaction(sql`INSERT INTO ${table} VALUES (2)`))
        assert.deepStrictEqual(yield* sql`SELECT n FROM ${table}`, [{ n: 2 }])
      }))

    it.effect(`is seen by a transformer (${isTraced ? "traced" : "not traced"})`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const seen: Array<string> = []
        const asked = withTransformer(sql`SELECT 1 AS n`, (statement) =>
          Effect.sync(() => {
            seen.push(statement.compile()[0])
            return statement
          }))
        yield* spansOf(isTraced, asked)
        assert.deepStrictEqual(seen, ["SELECT 1 AS n"])
      }))
  }
})
