import { addressOf, databaseSource, describe } from "#sql/Client.ts"
import { DatabaseError } from "#sql/embedded/DatabaseError.ts"
import { Effect, Schema } from "effect"
import pg from "pg"
import { to } from "pg-copy-streams"
import { copyTarget, exists, migrationOf, quoteName, session, tablesOf } from "./schema.ts"

const Sequences = Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.NullOr(Schema.String) }))
const KeyIds = Schema.Array(Schema.Struct({ id: Schema.String }))

const keyIdsOf = async (client: pg.Client) => {
  if (!await exists(client, "secret_keys")) return []
  const { rows } = await client.query("SELECT key_id AS id FROM secret_keys ORDER BY added_at")
  return Schema.decodeUnknownSync(KeyIds)(rows).map(({ id }) => id)
}

/** Sequences are not part of a snapshot: read last, they are never behind the rows. */
const sequencesOf = async (client: pg.Client) => {
  const { rows } = await client.query(`SELECT sequencename AS name, last_value::text AS value FROM pg_sequences
    WHERE schemaname = current_schema() AND sequencename NOT LIKE 'cluster\\_%' ORDER BY 1`)
  return Schema.decodeUnknownSync(Sequences)(rows)
}

/** Locks tables against changes of the schema, as pg_dump does; reads and writes continue. */
const begin = async (client: pg.Client) => {
  await client.query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
  await client.query(session)
  const tables = await tablesOf(client)
  if (tables.length > 0) {
    await client.query(`LOCK TABLE ${tables.map(({ name }) => quoteName(name)).join(", ")} IN ACCESS SHARE MODE`)
  }
  const migration = await migrationOf(client)
  if (migration === null) throw new Error("it has never been used by berth, so there is nothing to back up")
  return { tables, migration, keyIds: await keyIdsOf(client) }
}

/**
 * A snapshot of the whole database, to be read table by table in the server's own COPY format: a read-only transaction,
 * beside a running service. It lasts until the scope closes.
 */
export const dump = Effect.gen(function*() {
  const source = yield* databaseSource(false)
  const failed = (cause: unknown) => new DatabaseError({ message: describe(source, cause), cause })
  const client = yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        const client = new pg.Client({
          ...addressOf(source),
          application_name: "berth backup",
          connectionTimeoutMillis: 10_000,
          keepAlive: true
        })
        // The current query fails with the reason; without a listener the process would exit.
        client.on("error", () => undefined)
        return client
      },
      catch: failed
    }),
    (client) => Effect.promise(() => client.end().catch(() => undefined)).pipe(Effect.timeoutOption("2 seconds"))
  )
  yield* Effect.tryPromise({ try: () => client.connect(), catch: failed })
  const snapshot = yield* Effect.tryPromise({ try: () => begin(client), catch: failed })
  return {
    ...snapshot,
    /** The rows of a table; their count is known at the end. */
    read: (table: typeof snapshot.tables[number]) => client.query(to(`COPY ${copyTarget(table)} TO STDOUT`)),
    sequences: () => sequencesOf(client)
  }
})
