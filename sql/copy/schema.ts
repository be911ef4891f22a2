import { table as migrationsTable } from "#sql/Migrate.ts"
import { Schema } from "effect"
import type pg from "pg"

/** A table and its columns, without those that the database computes. */
export interface Table {
  readonly name: string
  readonly columns: ReadonlyArray<string>
}

/**
 * Tables of a process or a host, which are not backed up: leases, job times, the use of servers, read positions in machines' output, and
 * the workflow engine's journal. The migrations are recorded by their number.
 */
const transient: ReadonlySet<string> = new Set([
  migrationsTable,
  "hosts",
  "jobs",
  "machine_output_positions",
  "mcp_sessions",
  "gateways",
  "server_use"
])
const isTransient = (name: string) => transient.has(name) || name.startsWith("cluster_")

const Rows = Schema.Array(Schema.Struct({ name: Schema.String, columns: Schema.Array(Schema.String) }))

/** Every table of the schema that belongs to an installation's data. */
export const tablesOf = async (client: pg.ClientBase): Promise<ReadonlyArray<Table>> => {
  const { rows } = await client.query(`
    SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
      AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    GROUP BY c.relname ORDER BY c.relname`)
  return Schema.decodeUnknownSync(Rows)(rows).filter(({ name }) => !isTransient(name))
}

export const exists = async (client: pg.ClientBase, table: string) =>
  (await client.query<{ found: boolean }>("SELECT to_regclass($1) IS NOT NULL AS found", [table])).rows[0]?.found ===
    true

const Migration = Schema.Struct({ id: Schema.NullOr(Schema.Int) })

/** Number of the schema's newest migration; null for a schema that is not ours. */
export const migrationOf = async (client: pg.ClientBase) => {
  if (!await exists(client, migrationsTable)) return null
  const { rows } = await client.query(`SELECT max(migration_id) AS id FROM ${migrationsTable}`)
  return Schema.decodeUnknownSync(Migration)(rows[0]).id
}

export const quoteName = (name: string) => `"${name.replaceAll("\"", "\"\"")}"`

/** `"table" ("column", …)`, for COPY. */
export const copyTarget = ({ columns, name }: Table) => `${quoteName(name)} (${columns.map(quoteName).join(", ")})`

/** Settings for a text format that does not depend on the server's or user's settings, without timeouts. */
export const session = `
  SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = 0;
  SET LOCAL client_encoding = 'UTF8'; SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD';
  SET LOCAL intervalstyle = 'postgres'; SET LOCAL extra_float_digits = 3; SET LOCAL bytea_output = 'hex'`
