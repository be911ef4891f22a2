import { Console, Effect } from "effect"

/** One sentence on standard error, and exit code 1. */
export const fail = (message: string) =>
  Effect.zipRight(
    Console.error(message),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )
