import { addressOf, type DatabaseSource, databaseSource, describe } from "#sql/Client.ts"
import { DatabaseError, reasonOf } from "#sql/embedded/DatabaseError.ts"
import { lock, migrate, newestOf } from "#sql/Migrate.ts"
import { migrations } from "#sql/migrations.ts"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Schema } from "effect"
import { once } from "node:events"
import pg from "pg"
import { type CopyStreamQuery, from } from "pg-copy-streams"
import { copyTarget, exists, migrationOf, quoteName, session, type Table, tablesOf } from "./schema.ts"

/** Writes the rows of one table. */
export interface Rows {
  readonly write: (chunk: Uint8Array) => Promise<void>
  /** Ends the table; the result is the number of rows. */
  readonly end: () => Promise<number>
}

/** The data to load. */
export interface Load {
  readonly migration: number
  readonly tables: ReadonlyArray<Table>
  /** Writes every row, one table after the other, and returns the values of the sequences. */
  readonly feed: (
    open: (table: Table) => Rows
  ) => Promise<ReadonlyArray<{ readonly name: string; readonly value: string | null }>>
  /** Statements to run once all rows are loaded. */
  readonly afterwards: ReadonlyArray<string>
}

const rejection = (message: string) => new DatabaseError({ message })
const Statements = Schema.Array(Schema.Struct({ name: Schema.String, definition: Schema.String }))
const Leases = Schema.Array(Schema.Struct({ id: Schema.String, hostName: Schema.String, pid: Schema.Int }))

/** A service of an older version has no lease; `checkEmpty` finds its data. */
const checkNobodyServes = async (client: pg.ClientBase) => {
  if (!await exists(client, "hosts")) return
  const { rows } = await client.query(
    `SELECT id, host_name AS "hostName", pid FROM hosts WHERE lease_until > clock_timestamp()`
  )
  const [host] = Schema.decodeUnknownSync(Leases)(rows)
  if (host === undefined) return
  throw rejection(
    `Another berth serves this database: ${host.id} on ${host.hostName} (process ${host.pid}); stop it first`
  )
}

const checkEmpty = async (client: pg.ClientBase) => {
  for (const { name } of await tablesOf(client)) {
    const { rowCount } = await client.query(`SELECT FROM ${quoteName(name)} LIMIT 1`)
    if (rowCount !== 0) {
      throw rejection(
        `The database has data already (in ${name}, for one): a backup is restored into an empty one, which ` +
          "DATABASE_URL or an empty BERTH_HOME names"
      )
    }
  }
}

const checkFits = (tables: ReadonlyArray<Table>, existing: ReadonlyArray<Table>) => {
  for (const { columns, name } of tables) {
    const table = existing.find((candidate) => candidate.name === name)
    const column = columns.find((column) => table?.columns.includes(column) !== true)
    if (column !== undefined) {
      throw rejection(`The backup has ${name}.${column}, which this version of berth does not know`)
    }
  }
}

/**
 * Drops foreign keys, since tables may refer to each other in circles, and disables triggers, whose results the backup
 * has already. Returns the function that restores both; it checks each foreign key.
 */
const dropConstraints = async (client: pg.ClientBase) => {
  const { rows } = await client.query(`
    SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS name,
      format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS definition
    FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`)
  const keys = Schema.decodeUnknownSync(Statements)(rows)
  const { rows: triggers } = await client.query(`
    SELECT format('ALTER TABLE %s DISABLE TRIGGER USER', tgrelid::regclass) AS name,
      format('ALTER TABLE %s ENABLE TRIGGER USER', tgrelid::regclass) AS definition
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE NOT tgisinternal AND c.relnamespace = current_schema()::regnamespace GROUP BY tgrelid`)
  const all = [...keys, ...Schema.decodeUnknownSync(Statements)(triggers)]
  for (const { name } of all) await client.query(name)
  return async () => {
    for (const { definition } of all) await client.query(definition)
  }
}

/** Feeds tables through one connection. A failed feed ends its current COPY, so that the connection stays usable. */
const runFeed = async (client: pg.ClientBase, feed: Load["feed"]) => {
  let current: CopyStreamQuery | undefined
  try {
    return await feed((table) => {
      const into = current = client.query(from(`COPY ${copyTarget(table)} FROM STDIN`))
      let broken: Error | undefined
      into.on("error", (error) => (broken = error))
      return {
        write: async (chunk) => {
          if (broken !== undefined) throw broken
          if (!into.write(chunk)) await once(into, "drain")
        },
        end: async () => {
          if (broken !== undefined) throw broken
          into.end()
          await once(into, "finish")
          return into.rowCount
        }
      }
    })
  } catch (error) {
    current?.destroy()
    throw error
  }
}

const fill = async (client: pg.ClientBase, { afterwards, feed, migration, tables }: Load) => {
  if (await migrationOf(client) !== migration) {
    throw rejection(`The database can't be brought to the backup's migration ${migration}: use an empty one`)
  }
  const existing = await tablesOf(client)
  checkFits(tables, existing)
  const restoreConstraints = await dropConstraints(client)
  // A migration may have inserted rows, which the backup has, too.
  await client.query(`TRUNCATE ${existing.map(({ name }) => quoteName(name)).join(", ")}`)
  for (const { name, value } of await runFeed(client, feed)) {
    if (value !== null) await client.query("SELECT setval($1::regclass, $2)", [quoteName(name), value])
  }
  for (const statement of afterwards) await client.query(statement)
  await restoreConstraints()
}

/** A pool of one connection, so that migrations and rows share a transaction. */
const singleConnection = (source: DatabaseSource) =>
  Effect.gen(function*() {
    let client: pg.PoolClient | undefined
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const pool = new pg.Pool({ ...addressOf(source), application_name: "berth restore", max: 1 })
        pool.on("error", () => undefined).on("acquire", (acquired) => (client = acquired))
        return pool
      }),
      (pool) => Effect.promise(() => pool.end()).pipe(Effect.interruptible, Effect.timeoutOption("2 seconds"))
    )
    const failed = (cause: unknown) =>
      cause instanceof DatabaseError ? cause : new DatabaseError({ message: describe(source, cause), cause })
    const perform = (work: (client: pg.ClientBase) => Promise<void>) =>
      Effect.suspend(() => {
        const acquired = client
        return acquired === undefined
          ? Effect.dieMessage("There is no transaction")
          : Effect.tryPromise({ try: () => work(acquired), catch: failed })
      })
    const sql = yield* Effect.mapError(Layer.build(PgClient.layerFromPool({ acquire: Effect.succeed(pool) })), failed)
    return { sql, perform, failed }
  })

/**
 * All or nothing, in one transaction: the empty database gets the backup's schema, rows and sequences. Newer migrations
 * run afterwards, as at any start.
 */
export const load = Effect.fn("Sql.load")(function*(backup: Load) {
  const newest = newestOf(migrations)
  if (backup.migration > newest) {
    return yield* rejection(
      `The backup is of a newer version of berth (migration ${backup.migration}) than this one (${newest}): restore it ` +
        "with that version, or a later one"
    )
  }
  const until = Object.fromEntries(
    Object.entries(migrations).filter(([name]) => Number(name.slice(0, 4)) <= backup.migration)
  )
  const { failed, perform, sql } = yield* singleConnection(yield* databaseSource(true))
  yield* Effect.gen(function*() {
    const client = yield* SqlClient.SqlClient
    yield* client.withTransaction(Effect.gen(function*() {
      yield* client.unsafe(session)
      // A process that starts meanwhile waits, and finds the restored database.
      yield* client`SELECT pg_advisory_xact_lock(${lock})`
      yield* perform(checkNobodyServes)
      yield* perform(checkEmpty)
      yield* migrate(until)
      yield* client.unsafe(session)
      yield* perform((connection) => fill(connection, backup))
    }))
    yield* migrate(migrations)
    yield* client.unsafe("ANALYZE")
  }).pipe(
    Effect.provide(sql),
    Effect.catchTag("SqlError", (error) => failed(error)),
    Effect.catchAllDefect((defect) => new DatabaseError({ message: `The restore failed: ${reasonOf(defect)}` }))
  )
}, Effect.scoped)
