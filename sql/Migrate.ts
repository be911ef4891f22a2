import { DatabaseError, reasonOf } from "#sql/embedded/DatabaseError.ts"
import { Migrator, SqlClient } from "@effect/sql"
import { Cause, Effect, Layer, Option, Predicate } from "effect"
import { migrations } from "./migrations.ts"

export const table = "berth_migrations"
/** An arbitrary number, which every version of the program must share. */
export const lock = 0x62657203

type Migrations = typeof migrations

export const newestOf = (all: Migrations) => Math.max(0, ...Object.keys(all).map((name) => Number.parseInt(name, 10)))

/**
 * All or nothing, in the transaction that holds the lock. A concurrent second process waits, and then finds nothing to
 * do. The migrator's own lock is not enough: two first starts collide when they create its table.
 */
const run = Effect.fnUntraced(function*(all: Migrations) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SET LOCAL statement_timeout = 0`
  yield* sql`SET LOCAL lock_timeout = '5min'`
  yield* sql`SELECT pg_advisory_xact_lock(${lock})`
  yield* sql`CREATE TABLE IF NOT EXISTS ${sql(table)} (
    migration_id integer PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    name text NOT NULL
  )`
  const done = yield* Migrator.make({})({ loader: Migrator.fromRecord(all), table })
  const newest = yield* sql`SELECT coalesce(max(migration_id), 0) AS id FROM ${sql(table)}`
  const id = Number(newest[0]?.["id"])
  const newestKnown = newestOf(all)
  if (id > newestKnown) {
    yield* Effect.logWarning(
      `The database was migrated by a newer version (${id}) than this one knows (${newestKnown})`
    )
  }
  return done.map(([id, name]) => `${String(id).padStart(4, "0")}_${name}`)
}, (effect) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(effect)))

/** The migrator dies when a migration fails, and names it; the server's message is in the cause. */
const sentence = (cause: Cause.Cause<unknown>) => {
  const error = Option.getOrElse(Cause.failureOption(cause), () => Cause.squash(cause))
  const inner = reasonOf(error)
  const outer = Predicate.isError(error) ? error.message : ""
  return outer === inner || outer === "" ? `The migrations failed: ${inner}` : `${outer}: ${inner}`
}

export const migrate = (all: Migrations) =>
  run(all).pipe(
    Effect.tap((names) =>
      names.length > 0 ? Effect.logInfo(`Migrated the database: ${names.join(", ")}`) : Effect.void
    ),
    Effect.catchAllCause((cause) => Cause.isInterruptedOnly(cause)
      ? Effect.interrupt
      : new DatabaseError({ message: sentence(cause), cause: Cause.squash(cause) })
    )
  )

/** Migrates the database to this version. Processes that start at the same time all succeed. */
export const MigrationsLive = Layer.effectDiscard(migrate(migrations))
