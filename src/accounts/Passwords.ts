import { failsWith } from "#src/shared/Failure.ts"
import { threads as startThreads } from "#src/shared/threads.ts"
import { Effect, Option, Schema } from "effect"
import { availableParallelism } from "node:os"

/** OWASP's profile of argon2id (the library's default variant) with 19 MiB and 2 passes; about 20 ms. */
export const hashOptions = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** One core stays free for requests; each thread takes 19 MiB while it hashes. */
const threads = Math.max(1, Math.min(4, availableParallelism() - 1))

/** Where cores are scarce, requests go first (docs/decisions/password-hashing.md has the figures). */
const nice = 5

/** Hashes a password, or checks it against a stored hash. */
export interface HashTask {
  readonly password: string
  readonly stored?: string
}

/** How many log-ins and sign-ups may wait for a thread. */
export const mostWaiting = 32

/** The queue of log-ins and sign-ups is full (503). */
export class LogInsBusy extends Schema.TaggedError<LogInsBusy>()("LogInsBusy", {}, failsWith(503)) {
  readonly retryAfter = 5
  override get message() {
    return `Too many people are logging in at this moment; try again in ${this.retryAfter} seconds`
  }
}

/** Hashes and checks passwords on worker threads: hashing is expensive, and its callers are not authenticated yet. */
export class Passwords extends Effect.Service<Passwords>()("accounts/Passwords", {
  scoped: Effect.gen(function*() {
    const ask = yield* startThreads<HashTask, string | boolean>({
      file: () => new URL("./hash-thread.js", import.meta.url),
      threads,
      workerData: { nice, options: hashOptions }
    })
    const run = (task: HashTask) => Effect.orDie(ask(task))
    const hash = (password: string) => Effect.map(run({ password }), String)
    const dummy = yield* Effect.cached(hash("nobody has this password"))
    yield* Effect.forkScoped(dummy)
    const places = yield* Effect.makeSemaphore(threads + mostWaiting)

    return {
      /**
       * Runs work that hashes or checks a password, if the queue has a place. Takes the place before any other work, so
       * that a refusal costs almost nothing. A caller who disconnects frees the place.
       */
      admitted: <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | LogInsBusy, R> =>
        Effect.flatMap(
          places.withPermitsIfAvailable(1)(work),
          Option.match({ onNone: () => new LogInsBusy(), onSome: Effect.succeed })
        ),
      hash,
      /** Without a stored hash it checks against a dummy, so that an unknown user takes the same time. */
      verify: (stored: string | undefined, password: string) =>
        (stored === undefined ? dummy : Effect.succeed(stored)).pipe(
          Effect.flatMap((storedHash) => run({ password, stored: storedHash })),
          Effect.map((matches) => matches === true && stored !== undefined)
        )
    } as const
  })
}) {}
