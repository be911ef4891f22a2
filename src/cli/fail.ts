import { Effect, Predicate } from "effect"
import { tellError } from "./json-output.ts"

/** An error on standard error, and the exit code (docs/cli.md). */
export const fail = (message: string, code = 1) =>
  Effect.zipRight(
    tellError(message, code),
    Effect.sync(() => {
      process.exitCode = code
    })
  )

/** Failures whose message tells the operator what to set or do. */
const forOperators = [
  "SettingError",
  "DatabaseError",
  "ListenError",
  "SecretError",
  "LeaseError",
  "BackupError"
] as const

/** Prints an error that the operator can fix as one sentence, without a stack trace. */
export const orSay = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    effect,
    (error): error is Extract<E, { readonly _tag: typeof forOperators[number]; readonly message: string }> =>
      forOperators.some((tag) => Predicate.isTagged(error, tag)),
    // Ctrl-C reaches our child processes too, maybe before us. The pause lets our own signal interrupt this first, so
    // that their end is not reported as a failure.
    ({ message }) => Effect.zipRight(Effect.sleep("50 millis"), fail(message))
  )
