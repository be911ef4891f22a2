import { codeOf, DatabaseError, reasonOf } from "#sql/embedded/DatabaseError.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { type SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option, Redacted, Schedule, Schema, String } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import pg from "pg"
import { embedded, type EmbeddedAddress } from "./Embedded.ts"
import { MigrationsLive } from "./Migrate.ts"
import { measurePool } from "./pool-metrics.ts"
import { giveUpOnSilence, usualMillis } from "./statement-limit.ts"

/** A PostgreSQL URL, or the address of the embedded server. */
export type DatabaseSource = Redacted.Redacted | EmbeddedAddress

/** How `pg` is told of it. */
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
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text)
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
    // A cut network is noticed, and connections move on after a failover.
    keepAlive: true,
    maxLifetimeSeconds: 3600,
    // A peer that is gone is noticed in half a minute while nothing is asked of it, too.
    keepAliveInitialDelayMillis: 20_000,
    statement_timeout: usualMillis,
    idle_in_transaction_session_timeout: 60_000
  })
  // An idle connection that breaks (a restart of the database) is dropped by the pool; without a listener Node ends.
  pool.on("error", () => undefined)
  pool.on("connect", (client) => giveUpOnSilence(client))
  return pool
}

const Facts = Schema.Struct({ version: Schema.Number, encoding: Schema.String, replica: Schema.Boolean })

/** The first contact. A server that is still starting is waited for; anything else is told at once. */
const firstContact = (pool: pg.Pool) =>
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
    Effect.flatMap(({ rows }) => Schema.decodeUnknown(Facts)(rows[0]))
  )

/** Why the server can't be used, if so. */
export const problemOf = ({ encoding, replica, version }: typeof Facts.Type) => {
  if (version < 140000) return new Error(`it is version ${Math.floor(version / 10000)}, 14 or newer is needed`)
  if (encoding !== "UTF8") return new Error(`its encoding is ${encoding}, UTF8 is needed`)
  return replica ? new Error("it is a read-only replica") : undefined
}

const pool = (source: DatabaseSource, maxConnections: number) =>
  Effect.acquireRelease(
    Effect.try(() => makePool(source, maxConnections)),
    (pool) => Effect.promise(() => pool.end()).pipe(Effect.interruptible, Effect.timeoutOption("2 seconds"))
  ).pipe(
    Effect.tap((pool) =>
      Effect.flatMap(firstContact(pool), (facts) => {
        const problem = problemOf(facts)
        return problem === undefined ? Effect.void : Effect.fail(problem)
      })
    ),
    Effect.mapError((error) => new DatabaseError({ message: describe(source, error) }))
  )

/**
 * `SqlClient` and `PgClient` on a pool: names are camelCase in code and snake_case in SQL, JSON is left as it is.
 * The pool recovers by itself after the database was away. `isMeasured`: its connections are counted in the metrics.
 */
export const clientLayer = (source: DatabaseSource, maxConnections = 10, isMeasured = false) =>
  Layer.unwrapScoped(Effect.gen(function*() {
    yield* checkUrl(source)
    const connections = yield* pool(source, maxConnections)
    if (isMeasured) yield* Effect.forkScoped(measurePool(connections))
    return Layer.orDie(PgClient.layerFromPool({
      acquire: Effect.succeed(connections),
      transformQueryNames: String.camelToSnake,
      transformResultNames: String.snakeToCamel,
      transformJson: false
    }))
  }))

/**
 * The database that the settings name; the embedded one is started when it does not run. `exclusive` is for who serves
 * the home alone, and makes the embedded one where there is none; a command beside a service makes nothing.
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

const live = (exclusive: boolean) =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const { otlpEndpoint } = yield* CurrentSettings
    const client = clientLayer(yield* databaseSource(exclusive), 10, Option.isSome(otlpEndpoint))
    return Layer.provideMerge(MigrationsLive, client)
  }))

/** The migrated database that the settings name, for `berth serve`: one process a home when it is the embedded one. */
export const SqlLive: Layer.Layer<SqlClient.SqlClient | PgClient.PgClient, DatabaseError, CurrentSettings> = live(true)

/** The same for commands that run beside a serving process (`berth admin …`). */
export const SqlSharedLive: typeof SqlLive = live(false)
