import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Redacted, Schedule } from "effect"
import pg from "pg"

export interface ChangeListener {
  readonly onChange: (payload: string) => void
  /** Connected: from now on no change is missed. */
  readonly onConnected: () => void
  /** The connection broke: changes may go unnoticed. */
  readonly onLost: () => void
}

/** Those of this process, by channel. */
class Listeners extends Context.Reference<Listeners>()("shared/Listeners", {
  defaultValue: () => new Map<string, Set<ChangeListener>>()
}) {}

/** Tells this process of its own change now, in words of the channel: PostgreSQL tells all, some moments later. */
export const tellHere = (channel: string, payload: string) =>
  Effect.map(Listeners, (listeners) => listeners.get(channel)?.forEach(({ onChange }) => onChange(payload)))

const registered = (channel: string, listener: ChangeListener) =>
  Effect.flatMap(Listeners, (all) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const listeners = all.get(channel) ?? new Set()
        all.set(channel, listeners.add(listener))
      }),
      () => Effect.sync(() => all.get(channel)?.delete(listener))
    ))

const connectionOf = (config: PgClient.PgClientConfig): pg.ClientConfig => ({
  ...(config.url === undefined ? {} : { connectionString: Redacted.value(config.url) }),
  ...(config.url !== undefined || config.host === undefined ? {} : { host: config.host }),
  ...(config.url !== undefined || config.port === undefined ? {} : { port: config.port }),
  ...(config.url !== undefined || config.database === undefined ? {} : { database: config.database }),
  ...(config.url !== undefined || config.username === undefined ? {} : { user: config.username }),
  ...(config.url !== undefined || config.password === undefined ? {} : { password: Redacted.value(config.password) }),
  ...(config.ssl === undefined ? {} : { ssl: config.ssl })
})

const connection = (config: PgClient.PgClientConfig) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      new pg.Client({
        ...connectionOf(config),
        application_name: "berth gateway",
        keepAlive: true,
        connectionTimeoutMillis: 5_000
      })
    ),
    (client) =>
      Effect.promise(() => client.end().catch(() => undefined)).pipe(
        Effect.interruptible,
        Effect.timeoutOption("1 second")
      )
  )

/** Listens on one connection; fails when it breaks, and never succeeds. */
const listening = Effect.fnUntraced(
  function*(config: PgClient.PgClientConfig, channel: string, listener: ChangeListener) {
    const client = yield* connection(config)
    yield* Effect.addFinalizer(() => Effect.sync(listener.onLost))
    const broken = Effect.async<never, unknown>((resume) => {
      const fail = (error: unknown) => resume(Effect.fail(error))
      client.on("error", fail)
      client.on("end", () => fail(new Error("the connection ended")))
      client.on("notification", ({ payload }) => listener.onChange(payload ?? ""))
      client.connect().then(() => client.query(`LISTEN ${pg.escapeIdentifier(channel)}`))
        .then(listener.onConnected, fail)
    })
    // Queries detect a broken network; the kernel alone would take hours.
    const heartbeat = Effect.tryPromise(() => client.query("SELECT 1")).pipe(
      Effect.timeout("5 seconds"),
      Effect.delay("15 seconds"),
      Effect.forever
    )
    return yield* Effect.raceFirst(broken, heartbeat)
  },
  Effect.scoped
)

/**
 * Listens on a channel of PostgreSQL until the scope closes, on a connection of its own, and connects again when that
 * breaks. (`PgClient.listen` does not report a lost connection.)
 */
export const listenForChanges = Effect.fn("gateway.listenForChanges")(
  function*(channel: string, listener: ChangeListener) {
    const { config } = yield* PgClient.PgClient
    yield* registered(channel, listener)
    const retrySchedule = Schedule.exponential("200 millis").pipe(Schedule.union(Schedule.spaced("2 seconds")))
    yield* listening(config, channel, listener).pipe(
      Effect.tapError((error) => Effect.logDebug(`Listening on ${channel} broke off: ${String(error)}`)),
      Effect.retry(retrySchedule),
      Effect.forkScoped
    )
  }
)
