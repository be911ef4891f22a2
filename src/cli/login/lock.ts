import { unwritable } from "#src/cli/unwritable.ts"
import { isRunning } from "#src/shared/is-running.ts"
import { FileSystem } from "@effect/platform"
import { type PlatformError } from "@effect/platform/Error"
import { Clock, Data, Duration, Effect, Option, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"

/** Longer than anybody holds it: what is done under it has shorter limits. */
const staleMillis = Duration.toMillis("1 minute")
const patience = "90 seconds"

class Held extends Data.TaggedError("Held") {}

const isReason = (error: PlatformError, reason: string) => error._tag === "SystemError" && error.reason === reason

/** Whether a process of this machine is there; another's that shares the folder can't be asked. */
const mayRun = (holder: string) => {
  const [host, pid] = holder.split(" ")
  return host !== hostname() || isRunning(Number(pid))
}

/** What a lock says of its holder that nobody else's says. */
const idOf = (holder: string) => /^\S+ \d+ ([\w-]+)$/.exec(holder)?.[1] ?? "unnamed"

/** The steps of a lock, by a holder that has a name of its own. */
const stepsOf = (file: string, own: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem

    /** Puts a file with the own name somewhere in one step, so that no lock is there without its holder. */
    const put = <A>(how: (written: string) => Effect.Effect<A, PlatformError>) => {
      const written = `${file}.${randomUUID()}`
      return files.writeFileString(written, own, { flag: "wx", mode: 0o600 }).pipe(
        Effect.zipRight(how(written)),
        Effect.ensuring(Effect.ignore(files.remove(written)))
      )
    }
    const isStale = Effect.fnUntraced(function*(path: string, holder: string) {
      if (!mayRun(holder)) return true
      const { mtime } = yield* files.stat(path)
      const age = (yield* Clock.currentTimeMillis) - Option.match(mtime, { onNone: () => 0, onSome: Number })
      return age >= staleMillis
    })

    /**
     * Runs an effect that replaces or removes the lock of `holder` at `path`, unless another's is there by then. Who does
     * so holds a second lock, named for that very holder: of many who find it dead one gets it, and who comes late sees
     * that `path` is another's. Who dies with the second one leaves it to a third, and so on.
     */
    const inPlaceOf = (path: string, holder: string, change: Effect.Effect<void, PlatformError>): Attempt =>
      Effect.gen(function*() {
        const second = `${file}.${idOf(holder)}`
        if (!(yield* take(second))) return false
        return yield* Effect.gen(function*() {
          if ((yield* files.readFileString(path)) !== holder) return false
          yield* change
          return true
        }).pipe(Effect.ensuring(Effect.ignore(files.remove(second))))
      })

    /** Where the file system has no hard links, the file is there a moment before its words. */
    const linked = (written: string, path: string) =>
      Effect.catchIf(
        files.link(written, path),
        (error) => !isReason(error, "AlreadyExists"),
        () => files.writeFileString(path, own, { flag: "wx", mode: 0o600 })
      )

    const create = (path: string): Attempt =>
      put((written) => Effect.as(linked(written, path), true)).pipe(
        Effect.catchIf((error) => isReason(error, "AlreadyExists"), () => Effect.succeed(false))
      )

    /** Takes the lock at `path`; false while another has it. */
    const take = (path: string): Attempt =>
      files.readFileString(path).pipe(
        Effect.flatMap((holder) =>
          Effect.if(isStale(path, holder), {
            onFalse: () => Effect.succeed(false),
            onTrue: () => inPlaceOf(path, holder, put((written) => files.rename(written, path)))
          })
        ),
        // Nobody has it, or it was given back meanwhile.
        Effect.catchIf((error) => isReason(error, "NotFound"), () => create(path))
      )

    /** Gives the lock back, unless it was taken over. */
    const giveBack = inPlaceOf(file, own, files.remove(file))
    return { take: take(file), giveBack }
  })

type Attempt = Effect.Effect<boolean, PlatformError>

/**
 * Runs an effect while no other process does so with the same lock file. Who has died, or has held the lock for a minute, is
 * taken to hold it no more.
 */
export const withLock = (file: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const { giveBack, take } = yield* stepsOf(file, `${hostname()} ${process.pid} ${randomUUID()}`)
    const acquire = Effect.uninterruptible(take).pipe(
      Effect.filterOrFail((taken) => taken, () => new Held()),
      Effect.retry({
        while: ({ _tag }) => _tag === "Held",
        schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo(patience))
      }),
      Effect.mapError((error) =>
        unwritable(
          file,
          error,
          `${file} can't be had: ${error._tag === "Held" ? `it was held for ${patience}` : error.message}. ` +
            "If no other berth is running, remove it"
        )
      )
    )
    return yield* Effect.acquireUseRelease(Effect.interruptible(acquire), () => effect, () => Effect.ignore(giveBack))
  })
