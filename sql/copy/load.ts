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
import { copied, exists, migrationOf, quoted, session, type Table, tablesOf } from "./schema.ts"

/** The rows of one table on their way in. */
export interface Rows {
  readonly write: (chunk: Uint8Array) => Promise<void>
  /** How many they were. */
  readonly end: () => Promise<number>
}

/** What is to be loaded. */
export interface Load {
  readonly migration: number
  readonly tables: ReadonlyArray<Table>
  /** Hands over every row, one table after the other, and answers with the values of the sequences. */
  readonly feed: (
    open: (table: Table) => Rows
  ) => Promise<ReadonlyArray<{ readonly name: string; readonly value: string | null }>>
  /** What has to be put right once everything is there. */
  readonly afterwards: ReadonlyArray<string>
}

const refuse = (message: string) => new DatabaseError({ message })
const Named = Schema.Array(Schema.Struct({ name: Schema.String, definition: Schema.String }))
const Leases = Schema.Array(Schema.Struct({ id: Schema.String, hostName: Schema.String, pid: Schema.Int }))

/** A service of an older version has no lease to show; its data is found all the same. */
const checkNobodyServes = async (client: pg.ClientBase) => {
  if (!await exists(client, "hosts")) return
  const { rows } = await client.query(
    `SELECT id, host_name AS "hostName", pid FROM hosts WHERE lease_until > clock_timestamp()`
  )
  const [host] = Schema.decodeUnknownSync(Leases)(rows)
  if (host === undefined) return
  throw refuse(
    `Another berth serves this database: ${host.id} on ${host.hostName} (process ${host.pid}); stop it first`
  )
}

const checkEmpty = async (client: pg.ClientBase) => {
  for (const { name } of await tablesOf(client)) {
    const { rowCount } = await client.query(`SELECT FROM ${quoted(name)} LIMIT 1`)
    if (rowCount !== 0) {
      throw refuse(
        `The database has data already (in ${name}, for one): a backup is restored into an empty one, which ` +
          "DATABASE_URL or an empty BERTH_HOME names"
      )
    }
  }
}

const checkFits = (wanted: ReadonlyArray<Table>, there: ReadonlyArray<Table>) => {
  for (const { columns, name } of wanted) {
    const table = there.find((candidate) => candidate.name === name)
    const column = columns.find((column) => table?.columns.includes(column) !== true)
    if (column !== undefined) {
      throw refuse(`The backup has ${name}.${column}, which this version of berth does not know`)
    }
  }
}

/**
 * Tables may refer to each other in circles, and what triggers made is in the backup: both are put aside while rows come.
 * Each foreign key is checked when it is made again.
 */
const aside = async (client: pg.ClientBase) => {
  const { rows } = await client.query(`
    SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS name,
      format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS definition
    FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`)
  const keys = Schema.decodeUnknownSync(Named)(rows)
  const { rows: triggers } = await client.query(`
    SELECT format('ALTER TABLE %s DISABLE TRIGGER USER', tgrelid::regclass) AS name,
      format('ALTER TABLE %s ENABLE TRIGGER USER', tgrelid::regclass) AS definition
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE NOT tgisinternal AND c.relnamespace = current_schema()::regnamespace GROUP BY tgrelid`)
  const all = [...keys, ...Schema.decodeUnknownSync(Named)(triggers)]
  for (const { name } of all) await client.query(name)
  return async () => {
    for (const { definition } of all) await client.query(definition)
  }
}

/** Feeds tables through one connection. A feed that breaks off ends the COPY that it was at, or nothing could follow. */
const feeding = async (client: pg.ClientBase, feed: Load["feed"]) => {
  let current: CopyStreamQuery | undefined
  try {
    return await feed((table) => {
      const into = current = client.query(from(`COPY ${copied(table)} FROM STDIN`))
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
    throw refuse(`The database can't be brought to the backup's migration ${migration}: use an empty one`)
  }
  const there = await tablesOf(client)
  checkFits(tables, there)
  const back = await aside(client)
  // A migration may have put rows of its own, which the backup has too.
  await client.query(`TRUNCATE ${there.map(({ name }) => quoted(name)).join(", ")}`)
  for (const { name, value } of await feeding(client, feed)) {
    if (value !== null) await client.query("SELECT setval($1::regclass, $2)", [quoted(name), value])
  }
  for (const statement of afterwards) await client.query(statement)
  await back()
}

/** One connection, so that migrations and rows are of one transaction: `client` is the one it has. */
const alone = (source: DatabaseSource) =>
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
        const held = client
        return held === undefined
          ? Effect.dieMessage("There is no transaction")
          : Effect.tryPromise({ try: () => work(held), catch: failed })
      })
    const sql = yield* Effect.mapError(Layer.build(PgClient.layerFromPool({ acquire: Effect.succeed(pool) })), failed)
    return { sql, perform, failed }
  })

/**
 * All or nothing, in one transaction: the empty database gets the schema of the backup, its rows, and its sequences. What
 * came to the schema since then comes afterwards, as it comes at any start.
 */
export const load = Effect.fn("Sql.load")(function*(wanted: Load) {
  const newest = newestOf(migrations)
  if (wanted.migration > newest) {
    return yield* refuse(
      `The backup is of a newer version of berth (migration ${wanted.migration}) than this one (${newest}): restore it ` +
        "with that version, or a later one"
    )
  }
  const until = Object.fromEntries(
    Object.entries(migrations).filter(([name]) => Number(name.slice(0, 4)) <= wanted.migration)
  )
  const { failed, perform, sql } = yield* alone(yield* databaseSource(true))
  yield* Effect.gen(function*() {
    const client = yield* SqlClient.SqlClient
    yield* client.withTransaction(Effect.gen(function*() {
      yield* client.unsafe(session)
      // Whoever starts meanwhile waits, and finds it restored.
      yield* client`SELECT pg_advisory_xact_lock(${lock})`
      yield* perform(checkNobodyServes)
      yield* perform(checkEmpty)
      yield* migrate(until)
      yield* client.unsafe(session)
      yield* perform((held) => fill(held, wanted))
    }))
    yield* migrate(migrations)
    yield* client.unsafe("ANALYZE")
  }).pipe(
    Effect.provide(sql),
    Effect.catchTag("SqlError", (error) => failed(error)),
    Effect.catchAllDefect((defect) => new DatabaseError({ message: `The restore failed: ${reasonOf(defect)}` }))
  )
}, Effect.scoped)
