import { Console, Effect, Predicate } from "effect"

/** One sentence on standard error, and exit code 1. */
export const fail = (message: string) =>
  Effect.zipRight(
    Console.error(message),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )

/** Failures whose message is the sentence that an operator needs: it names what to set or do. */
const told = ["SettingError", "DatabaseError", "ListenError", "SecretError", "LeaseError", "BackupError"] as const

/** Says what an operator can mend in one sentence, without the stack that a failed program would show. */
export const orSay = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    effect,
    (error): error is Extract<E, { readonly _tag: typeof told[number]; readonly message: string }> =>
      told.some((tag) => Predicate.isTagged(error, tag)),
    // Ctrl-C reaches the programs that we run too, and maybe before us: what they then fail with is no failure.
    ({ message }) => Effect.zipRight(Effect.sleep("50 millis"), fail(message))
  )
