import { codeOf, DatabaseError, reasonOf } from "#sql/embedded/DatabaseError.ts"
import { StopTimes } from "#sql/embedded/stop-times.ts"
import { CurrentSettings, measures } from "#src/config/Settings.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Redacted, Schedule, Schema, String } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import pg from "pg"
import { cancelUnwanted } from "./cancel.ts"
import { embedded, type EmbeddedAddress } from "./Embedded.ts"
import { lightClient } from "./light.ts"
import { MigrationsLive } from "./Migrate.ts"
import { measurePool } from "./pool-metrics.ts"
import { prepareMarked } from "./prepare.ts"
import { closeOnSilence, defaultMillis } from "./statement-limit.ts"

/** A PostgreSQL URL, or the address of the embedded server. */
export type DatabaseSource = Redacted.Redacted | EmbeddedAddress

/** Its connection options for `pg`. */
export const addressOf = (source: DatabaseSource) =>
  Redacted.isRedacted(source) ? { connectionString: Redacted.value(source) } : source

/** Names the setting and the host, never the URL: it holds the password. */
export const describe = (source: DatabaseSource, error: unknown) => {
  if (!Redacted.isRedacted(source)) return `The embedded PostgreSQL can't be used: ${reasonOf(error)}`
  const { host, hostname, searchParams } = new URL(Redacted.value(source))
  const where = searchParams.get("host") ?? (host === "" ? hostname : host)
  const reason = reasonOf(error).replaceAll(Redacted.value(source), "(the URL)")
  return `DATABASE_URL: PostgreSQL at ${where || "localhost"} can't be used: ${reason}`
}

const checkUrl = (source: DatabaseSource) => {
  if (!Redacted.isRedacted(source)) return Effect.void
  const text = Redacted.value(source)
  return /^postgres(ql)?:\/\//.test(text) && parseUrl(text) !== undefined
    ? Effect.void
    : new DatabaseError({
      message: "DATABASE_URL is not a PostgreSQL URL (postgres://user:password@host:5432/database)"
    })
}

const makePool = (source: DatabaseSource, maxConnections: number) => {
  const pool = new pg.Pool({
    ...addressOf(source),
    application_name: "berth",
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // Detects a broken network, and moves connections to the new server after a failover.
    keepAlive: true,
    maxLifetimeSeconds: 3600,
    // Detects a dead peer within half a minute, also on idle connections.
    keepAliveInitialDelayMillis: 20_000,
    statement_timeout: defaultMillis,
    // Compiling pays off for minutes of reports: for statements of milliseconds it costs more than they do.
    options: "-c jit=off",
    idle_in_transaction_session_timeout: 60_000
  })
  // The pool drops an idle connection that breaks (as in a restart of the database); without a listener Node exits.
  pool.on("error", () => undefined)
  pool.on("connect", (client) => {
    prepareMarked(client)
    closeOnSilence(client)
    cancelUnwanted(client, pool.options)
  })
  return pool
}

const ServerFacts = Schema.Struct({ version: Schema.Number, encoding: Schema.String, replica: Schema.Boolean })

/** The first query. Waits for a server that is still starting; any other error fails at once. */
const checkServer = (pool: pg.Pool) =>
  Effect.tryPromise(() =>
    pool.query(
      `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
        pg_is_in_recovery() AS replica`
    )
  ).pipe(
    Effect.retry({
      while: (error) => codeOf(error) === "57P03",
      schedule: Schedule.spaced("200 millis"),
      times: 150
    }),
    Effect.flatMap(({ rows }) => Schema.decodeUnknown(ServerFacts)(rows[0]))
  )

/** Why the server can't be used, or undefined. */
export const problemOf = ({ encoding, replica, version }: typeof ServerFacts.Type) => {
  if (version < 140000) return new Error(`it is version ${Math.floor(version / 10000)}, 14 or newer is needed`)
  if (encoding !== "UTF8") return new Error(`its encoding is ${encoding}, UTF8 is needed`)
  return replica ? new Error("it is a read-only replica") : undefined
}

const pool = (source: DatabaseSource, maxConnections: number) =>
  Effect.acquireRelease(
    Effect.try(() => makePool(source, maxConnections)),
    (pool) =>
      Effect.flatMap(StopTimes, ({ connections }) =>
        Effect.raceFirst(
          Effect.interruptible(Effect.promise(() => pool.end())),
          Effect.interruptible(connections)
        ))
  ).pipe(
    Effect.tap((pool) =>
      Effect.flatMap(checkServer(pool), (facts) => {
        const problem = problemOf(facts)
        return problem === undefined ? Effect.void : Effect.fail(problem)
      })
    ),
    Effect.mapError((error) => new DatabaseError({ message: describe(source, error) }))
  )

const camelNames = new Map<string, string>()

/** Remembered: each row has its columns' names anew, and there are only as many as the statements' columns. */
const camelCased = (column: string) => {
  const known = camelNames.get(column)
  if (known !== undefined) return known
  const name = String.snakeToCamel(column)
  camelNames.set(column, name)
  return name
}

/**
 * `SqlClient` and `PgClient` on a pool: names are camelCase in code and snake_case in SQL, JSON is unchanged. The pool
 * recovers by itself after a database outage. `isMeasured`: the metrics count its connections.
 */
export const clientLayer = (source: DatabaseSource, maxConnections = 10, isMeasured = false) =>
  Layer.unwrapScoped(Effect.gen(function*() {
    yield* checkUrl(source)
    const connections = yield* pool(source, maxConnections)
    if (isMeasured) yield* Effect.forkScoped(measurePool(connections))
    return Layer.map(
      Layer.orDie(PgClient.layerFromPool({
        acquire: Effect.succeed(connections),
        transformQueryNames: String.camelToSnake,
        transformResultNames: camelCased,
        transformJson: false
      })),
      (made) => {
        const client = lightClient(Context.get(made, PgClient.PgClient))
        return Context.make(PgClient.PgClient, client).pipe(Context.add(SqlClient.SqlClient, client))
      }
    )
  }))

/**
 * The database of the settings; starts the embedded one if it does not run. `exclusive` is for the one process that
 * serves the home, and creates the embedded database if there is none; commands beside a service create nothing.
 */
export const databaseSource = Effect.fn("Sql.source")(function*(exclusive: boolean) {
  const { databaseUrl, home } = yield* CurrentSettings
  if (Option.isSome(databaseUrl)) return databaseUrl.value
  if (!exclusive && !existsSync(join(home, "postgres"))) {
    return yield* new DatabaseError({
      message: `There is no installation in ${home}: BERTH_HOME or DATABASE_URL must name it`
    })
  }
  return yield* embedded(home, { exclusive })
})

const live = (exclusive: boolean, connections = 10) =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const client = clientLayer(yield* databaseSource(exclusive), connections, measures(settings))
    return Layer.provideMerge(MigrationsLive, client)
  }))

/** The migrated database of the settings, for `berth serve`; with the embedded one a single process for each home. */
export const SqlLive: Layer.Layer<SqlClient.SqlClient | PgClient.PgClient, DatabaseError, CurrentSettings> = live(true)

/** The same for commands that run beside a serving process (`berth admin …`). */
export const SqlSharedLive: typeof SqlLive = live(false)

/** The same for a process of gateways: there are many, and each asks little. */
export const SqlGatewayLive: typeof SqlLive = live(false, 4)
