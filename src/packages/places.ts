import { Effect } from "effect"

/** Lets so many works run at once; whoever must wait is told so. Those that come first go first. */
export const makePlaces = (count: number) =>
  Effect.map(Effect.makeSemaphore(count), (places) => {
    let users = 0
    const enter = Effect.sync(() => ++users)
    const leave = Effect.sync(() => void (users -= 1))
    return (say: (line: string) => Effect.Effect<void>) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        enter,
        (mine) =>
          Effect.zipRight(
            Effect.when(say(`waiting: ${count} packages are being installed already`), () => mine > count),
            places.withPermits(1)(work)
          ),
        () => leave
      )
  })
