import { Effect } from "effect"

/** How long the process does nothing else, in milliseconds. */
const turn = 5

/** Runs long work of pure computation in turns, between which others are served: it yields where it can be left. */
export const cooperatively = <A>(begin: () => Generator<void, A>) =>
  Effect.async<A>((resume) => {
    const work = begin()
    let next: NodeJS.Immediate | undefined
    const go = () => {
      try {
        const end = performance.now() + turn
        let step = work.next()
        while (step.done !== true && performance.now() < end) step = work.next()
        if (step.done === true) resume(Effect.succeed(step.value))
        else next = setImmediate(go)
      } catch (error) {
        resume(Effect.die(error))
      }
    }
    go()
    return Effect.sync(() => clearImmediate(next))
  })
