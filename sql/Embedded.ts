import { type Cluster, port, prepare, superuser } from "#sql/embedded/cluster.ts"
import { DatabaseError, reasonOf } from "#sql/embedded/DatabaseError.ts"
import { acquire, type Guard, type GuardOptions, release } from "#sql/embedded/guard.ts"
import { fullDisk, postmaster } from "#sql/embedded/postmaster.ts"
import { Clock, Deferred, Effect, Ref, Schedule } from "effect"
import { join } from "node:path"

const database = "berth"

/** The pool's connection. No password: other users can't enter the socket's directory. */
export interface EmbeddedAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
}

const ensureDatabase = ({ client }: Guard) =>
  Effect.tryPromise({
    try: async () => {
      const existing = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [database])
      if (existing.rowCount === 0) await client.query(`CREATE DATABASE ${database}`)
    },
    catch: (cause) => new DatabaseError({ message: `The embedded database can't be made: ${reasonOf(cause)}`, cause })
  }).pipe(
    // Of two concurrent starts, the slower one finds the database on its next try.
    Effect.retry({ times: 3, schedule: Schedule.spaced("100 millis") })
  )

/** Restarts the server when it dies. The pool reconnects by itself: the socket's path stays the same. */
const supervise = (cluster: Cluster, guard: Ref.Ref<Guard>, options: GuardOptions) =>
  Ref.get(guard).pipe(
    Effect.flatMap(({ lost }) => Deferred.await(lost)),
    Effect.andThen(Effect.logWarning("The embedded PostgreSQL went away; starting it again")),
    Effect.andThen(
      acquire(cluster, options).pipe(
        Effect.tapError((error) => Effect.logError(error.message)),
        Effect.retry(Schedule.spaced("1 second"))
      )
    ),
    Effect.flatMap((next) => Ref.set(guard, next)),
    Effect.forever
  )

/** Below a home. */
const directoryOf = (home: string) => join(home, "postgres")

/**
 * Our own PostgreSQL server below `{home}/postgres`: created when missing, started when not running, adopted when it
 * outlived a crash of ours, restarted when it dies, stopped when the scope closes and nobody else uses it. `exclusive`
 * rejects a second process that serves the same home; commands beside a service pass false.
 */
export const embedded = Effect.fn("Embedded.start")(
  function*(home: string, options: Partial<GuardOptions> = {}) {
    const all = { exclusive: true, settings: {}, ...options }
    const cluster = yield* prepare(directoryOf(home))
    const guard = yield* Effect.acquireRelease(
      Effect.flatMap(acquire(cluster, all), Ref.make),
      (guard) => Effect.flatMap(Ref.get(guard), (current) => release(cluster, current))
    )
    yield* ensureDatabase(yield* Ref.get(guard))
    yield* Effect.forkScoped(supervise(cluster, guard, all))
    return { host: cluster.socketDirectory, port, user: superuser, database } satisfies EmbeddedAddress
  },
  (effect, home) =>
    Effect.mapError(effect, (error) =>
      fullDisk.test(error.message)
        ? new DatabaseError({
          message: `BERTH_HOME ${home} cannot be used by the embedded PostgreSQL: its disk is full: make room`,
          cause: error
        })
        : error),
  // Waiting for a real process needs real time, also where a test sets the clock.
  Effect.withClock(Clock.make())
)

/**
 * Stops the server of a home that still runs and that nobody uses: a process before may have been killed, and the one
 * that followed it been ended before it took the server over.
 */
export const stopUnused = Effect.fn("Embedded.stopUnused")(function*(home: string) {
  if (postmaster({ directory: directoryOf(home) }) === undefined) return
  const cluster = yield* prepare(directoryOf(home))
  yield* release(cluster, yield* acquire(cluster, { exclusive: false, settings: {} }))
})
