import { Effect } from "effect"

/** Milliseconds of work before it yields. */
const turn = 5

/** Runs a long computation in turns, so that the event loop stays free; the generator yields where it may pause. */
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
