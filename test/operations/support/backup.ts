import { BlobStore } from "#src/blobs/BlobStore.ts"
import { BlobsLive } from "#src/blobs/Live.ts"
import { backup } from "#src/operations/backup/Backup.ts"
import { restore } from "#src/operations/backup/Restore.ts"
import { DatabaseCopyLive } from "#src/Platform.ts"
import { Effect, Layer, Logger, LogLevel } from "effect"
import { join } from "node:path"
import { settingsTest, temporaryDirectory } from "../../support/Settings.ts"
import { runSql } from "../../support/sql.ts"

/** Where a database is, and the home beside it. */
export interface Site {
  readonly databaseUrl: string
  readonly home: string
  /** Settings beside these. */
  readonly variables?: Readonly<Record<string, string>>
}

export const site = (databaseUrl: string): Site => ({ databaseUrl, home: temporaryDirectory("backup") })

const at = ({ databaseUrl, home, variables = {} }: Site) =>
  Layer.merge(DatabaseCopyLive, BlobsLive).pipe(
    Layer.provideMerge(settingsTest({ DATABASE_URL: databaseUrl, BERTH_HOME: home, ...variables })),
    Layer.provideMerge(Logger.minimumLogLevel(LogLevel.Warning))
  )

/** Where its documents are. */
export const storeOf = (site: Site) =>
  Effect.flatMap(Layer.build(at(site)), (context) => Effect.provide(BlobStore, context))

export const backupFile = () => join(temporaryDirectory("backup"), "b.berth.tar.gz")

interface Options {
  readonly images?: boolean
  readonly tell?: (message: string) => void
}

export const save = (from: Site, file: string, { images = false, tell = () => undefined }: Options = {}) =>
  backup({ file, images, tell }).pipe(Effect.provide(at(from)))

export const bringBack = (to: Site, file: string, { tell = () => undefined }: Options = {}) =>
  restore({ file, tell }).pipe(Effect.provide(at(to)))

/** Every row of every table that an installation lives by, as one text a table. */
export const contentsOf = async ({ databaseUrl }: Site) => {
  const tables = await runSql(
    databaseUrl,
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
      AND relname !~ '^(cluster_|hosts$|jobs$|machine_output_positions$|mcp_sessions$)' ORDER BY 1`
  )
  const contents: Record<string, unknown> = {}
  for (const { name } of tables) {
    const [row] = await runSql(
      databaseUrl,
      name === "berth_migrations"
        ? "SELECT array_agg(name ORDER BY migration_id) AS rows FROM berth_migrations"
        : `SELECT coalesce(jsonb_agg(to_jsonb(t) ORDER BY t::text), '[]') AS rows FROM "${String(name)}" t`
    )
    contents[String(name)] = row?.["rows"]
  }
  return contents
}

/** What of a schema could have been left aside: keys, triggers and where sequences stand. */
export const schemaOf = async ({ databaseUrl }: Site) => ({
  constraints: await runSql(
    databaseUrl,
    `SELECT conrelid::regclass::text AS table, conname, pg_get_constraintdef(oid) AS definition, convalidated
     FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text NOT LIKE 'cluster%'
     ORDER BY 1, 2`
  ),
  triggers: await runSql(
    databaseUrl,
    "SELECT tgrelid::regclass::text AS table, tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2"
  ),
  sequences: await runSql(
    databaseUrl,
    "SELECT sequencename, last_value FROM pg_sequences WHERE sequencename NOT LIKE 'cluster%' ORDER BY 1"
  )
})

export const tablesOf = ({ databaseUrl }: Site) =>
  runSql(databaseUrl, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'")
