import { Clock, Duration, Effect, Exit, Runtime } from "effect"

interface Run<A, E> {
  readonly exit: Promise<Exit.Exit<A, E>>
  /** Unix milliseconds. */
  readonly until: number
}

/**
 * An effect whose value is kept for a while: however many ask, it runs once in that time, for all of them. A failure is
 * told to those who wait and not kept, and a caller that goes away does not stop it for the others, as it would with
 * `Effect.cachedWithTTL`.
 */
export const keptFor = (duration: Duration.DurationInput) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.runtime<R>(), (runtime) => {
    const start = Runtime.runPromiseExit(runtime)
    let last: Run<A, E> | undefined
    const run = (now: number) => {
      if (last !== undefined && now < last.until) return last.exit
      const mine = { exit: start(effect), until: now + Duration.toMillis(duration) }
      last = mine
      void mine.exit.then((exit) => {
        if (Exit.isFailure(exit) && last === mine) last = undefined
      })
      return mine.exit
    }
    return Effect.flatten(Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.promise(() => run(now))))
  })
