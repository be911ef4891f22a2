import { Deferred, Effect, Either, FiberId, Schedule } from "effect"
import pg from "pg"
import { type Cluster, port, superuser } from "./cluster.ts"
import { codeOf, DatabaseError, reasonOf } from "./DatabaseError.ts"
import { isTemporary, launch, stop } from "./postmaster.ts"

/** Advisory locks in the maintenance database: for use of the server, and for the process that serves this home. */
const using = 0x62657201
const serving = 0x62657202

/** Held while a process uses the embedded server. The locks end with the connection, so a crash leaves none. */
export interface Guard {
  readonly client: pg.Client
  /** Completed when the connection to the server is lost. */
  readonly lost: Deferred.Deferred<void>
}

export interface GuardOptions {
  /** Fail when another process serves the same home. */
  readonly exclusive: boolean
  readonly settings: Readonly<Record<string, string>>
}

/** The connection was lost during a query; a retry may help. */
class Interrupted {
  readonly _tag = "Interrupted"
  readonly reason: string
  constructor(cause: unknown) {
    this.reason = reasonOf(cause)
  }
}

const query = (client: pg.Client, text: string, values: ReadonlyArray<unknown> = []) =>
  Effect.tryPromise({
    try: async () => (await client.query<Record<string, unknown>>(text, [...values])).rows,
    catch: (cause) => new Interrupted(cause)
  })

const callLock = (client: pg.Client, call: string, value: number) =>
  Effect.map(query(client, `SELECT ${call}($1) AS yes`, [value]), (rows) => rows[0]?.["yes"] === true)

const connect = (cluster: Cluster) =>
  Effect.tryPromise({
    try: async (): Promise<Guard> => {
      const client = new pg.Client({
        host: cluster.socketDirectory,
        port,
        user: superuser,
        database: "postgres",
        application_name: `berth ${process.pid}`,
        connectionTimeoutMillis: 10_000
      })
      const lost = Deferred.unsafeMake<void>(FiberId.none)
      client.on("error", () => undefined)
      client.on("end", () => Deferred.unsafeDone(lost, Effect.void))
      await client.connect()
      return { client, lost }
    },
    catch: (cause) => ({ code: codeOf(cause), reason: reasonOf(cause) })
  })

const notListening = new Set<unknown>(["ENOENT", "ECONNREFUSED"])

/** Connects, and starts the server when nothing listens. Waits for a recovery after a crash. */
const reach = Effect.fn("Embedded.reach")(function*(cluster: Cluster, settings: GuardOptions["settings"]) {
  let ended: (() => string | undefined) | undefined
  let reason = ""
  for (let tries = 0; tries < 1200; tries++) {
    const connection = yield* Effect.either(connect(cluster))
    if (Either.isRight(connection)) return connection.right
    reason = connection.left.reason
    if (notListening.has(connection.left.code)) {
      const why = ended?.()
      if (why !== undefined && !isTemporary(why)) {
        return yield* new DatabaseError({
          message: `The embedded PostgreSQL in ${cluster.directory} won't start: ${why}`
        })
      }
      if (ended === undefined || (why !== undefined && tries % 10 === 0)) ended = yield* launch(cluster, settings)
    }
    yield* Effect.sleep("50 millis")
  }
  return yield* new DatabaseError({
    message: `The embedded PostgreSQL in ${cluster.directory} doesn't answer: ${reason}`
  })
})

const lockOwner = `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND objid = $1 AND granted`

/** Takes the serving lock. Retries for 2 seconds: the server releases a killed process's lock with a delay. */
const serve = Effect.fn("Embedded.serve")(function*(cluster: Cluster, client: pg.Client) {
  for (let tries = 0; tries < 20; tries++) {
    if (yield* callLock(client, "pg_try_advisory_lock", serving)) return
    yield* Effect.sleep("100 millis")
  }
  const rows = yield* query(client, lockOwner, [serving])
  const pid = /\d+$/.exec(String(rows[0]?.["name"]))?.[0] ?? "unknown"
  return yield* new DatabaseError({
    message: `Another berth (process ${pid}) already serves ${cluster.directory}: ` +
      "stop it, or set BERTH_HOME to another directory"
  })
})

const close = (client: pg.Client) =>
  Effect.tryPromise(() => client.end()).pipe(Effect.interruptible, Effect.timeoutOption("1 second"), Effect.ignore)

/** Reaches the server and takes the locks. */
export const acquire = (cluster: Cluster, { exclusive, settings }: GuardOptions) =>
  reach(cluster, settings).pipe(
    Effect.tap(({ client }) =>
      query(client, "SELECT pg_advisory_lock_shared($1)", [using]).pipe(
        Effect.andThen(exclusive ? serve(cluster, client) : Effect.void),
        Effect.tapErrorCause(() => close(client))
      )
    ),
    Effect.retry({
      while: (error) => error._tag === "Interrupted",
      schedule: Schedule.spaced("200 millis"),
      times: 20
    }),
    Effect.catchTag(
      "Interrupted",
      ({ reason }) =>
        new DatabaseError({ message: `The embedded PostgreSQL in ${cluster.directory} went away: ${reason}` })
    )
  )

/**
 * The last process stops the server: the exclusive lock proves that no other process uses it. One that can't be asked is
 * stopped, too: others start it again.
 */
export const release = (cluster: Cluster, { client }: Guard) =>
  query(client, "SELECT pg_advisory_unlock_shared($1)", [using]).pipe(
    Effect.andThen(callLock(client, "pg_try_advisory_lock", using)),
    Effect.interruptible,
    Effect.timeoutTo({ duration: "500 millis", onSuccess: (isLast) => isLast, onTimeout: () => true }),
    Effect.orElseSucceed(() => true),
    Effect.flatMap((isLast) => isLast ? stop(cluster) : Effect.void),
    Effect.ignore,
    Effect.andThen(close(client))
  )
