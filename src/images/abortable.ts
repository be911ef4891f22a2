import { Effect } from "effect"

/**
 * Runs asynchronous file work that stops at its signal. Unlike with `Effect.tryPromise`, an interruption waits until
 * the work has really stopped, so that nothing is still written during the cleanup.
 */
export const abortable = <A, E>(
  run: (signal: AbortSignal) => Promise<A>,
  onError: (cause: unknown) => E
): Effect.Effect<A, E> =>
  Effect.async<A, E>((resume) => {
    const controller = new AbortController()
    const settled = run(controller.signal).then(
      (value) => resume(Effect.succeed(value)),
      (cause: unknown) => resume(Effect.fail(onError(cause)))
    )
    return Effect.promise(() => {
      controller.abort()
      return settled
    })
  })
