import { Clock, Duration, Effect } from "effect"

/** The real clock, how far it has been moved, and a way to wake who sleeps for so long. */
export const movableClock = () => {
  const real = Clock.make()
  let ahead = 0
  const wakers = new Map<number, Set<() => void>>()
  const unsafeCurrentTimeMillis = () => real.unsafeCurrentTimeMillis() + ahead
  const sleep = (duration: Duration.Duration) => {
    const millis = Duration.toMillis(duration)
    // Short pauses are none that a test waits for, and timers take no longer ones.
    if (millis < 1_000 || millis > 2 ** 31 - 1) return real.sleep(duration)
    return Effect.async<void>((resume) => {
      const same = wakers.get(millis) ?? new Set()
      const end = () => {
        clearTimeout(timer)
        same.delete(wake)
      }
      const wake = () => (end(), resume(Effect.void))
      const timer = setTimeout(wake, millis)
      wakers.set(millis, same.add(wake))
      return Effect.sync(end)
    })
  }
  const clock: Clock.Clock = Object.assign(Object.create(real) as Clock.Clock, {
    unsafeCurrentTimeMillis,
    currentTimeMillis: Effect.sync(unsafeCurrentTimeMillis),
    sleep
  })
  return {
    clock,
    advance: (millis: number) => void (ahead += millis),
    hurry: (millis: number) => {
      for (const wake of [...wakers.get(millis) ?? []]) wake()
    }
  }
}
