import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { FileSystem } from "@effect/platform"
import { Clock, Duration, Effect, Option, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"

/** Longer than anybody holds it: what is done under it has shorter limits. */
const staleMillis = Duration.toMillis("1 minute")
const patience = "90 seconds"

/** Whether a process of this machine is there; another's that shares the folder can't be asked. */
const isRunning = (holder: string) => {
  const [host, pid] = holder.split(" ")
  if (host !== hostname()) return true
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"
  }
}

/**
 * Runs an effect while no other process does so with the same lock file. Who has died, or has held the lock for a minute, is
 * taken to hold it no more.
 */
export const withLock = (file: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const own = `${hostname()} ${process.pid} ${randomUUID()}`
    const holder = files.readFileString(file)

    const removeStale = Effect.gen(function*() {
      const found = yield* holder
      const { mtime } = yield* files.stat(file)
      const age = (yield* Clock.currentTimeMillis) - Option.match(mtime, { onNone: () => 0, onSome: Number })
      // An empty one is being written at this moment, or its writer died before it wrote.
      if ((found === "" || isRunning(found)) && age < staleMillis) return
      if ((yield* holder) === found) yield* files.remove(file)
    }).pipe(Effect.ignore)

    /** What a full disk leaves of one's own lock. */
    const removeEmpty = Effect.ignore(
      Effect.flatMap(holder, (found) => found === "" ? files.remove(file) : Effect.void)
    )

    const take = files.writeFileString(file, own, { flag: "wx", mode: 0o600 }).pipe(
      Effect.tapError((error) =>
        error._tag === "SystemError" && error.reason === "AlreadyExists" ? removeStale : removeEmpty
      )
    )
    const acquire = take.pipe(
      Effect.retry({
        while: (error) => error._tag === "SystemError" && error.reason === "AlreadyExists",
        schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo(patience))
      }),
      Effect.mapError((error) =>
        new CliFailure({
          message: `${file} can't be had: ${error.message}. If no other berth is running, remove it`,
          code: exitCodes.badFile
        })
      )
    )
    const release = Effect.ignore(Effect.flatMap(holder, (found) => found === own ? files.remove(file) : Effect.void))
    return yield* Effect.acquireUseRelease(Effect.interruptible(acquire), () => effect, () => release)
  })
