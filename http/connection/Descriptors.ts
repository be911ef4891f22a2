import { DescriptorLimit, openDescriptors } from "#src/shared/descriptors.ts"
import { Effect, Runtime } from "effect"

/** The share of the process's descriptors that may be in use before requests are refused; the rest is the platform's. */
const share = 0.8
const countEveryMillis = 1_000
const warnEveryMillis = 60_000
const warning =
  "Requests to hosted servers and event streams are refused: this process has nearly as many files open " +
  "as it may have. Raise its limit (LimitNOFILE), or find who holds them"

export const fullText = "The platform has nearly as many connections open as it may have; try again shortly"

interface Options {
  readonly limit: number
  readonly log: (message: string, what: unknown) => void
  readonly count?: () => Promise<number>
}

export const makeDescriptors = ({ count = openDescriptors, limit, log }: Options) => {
  const uses: Array<() => number> = []
  const known = () => uses.reduce((sum, use) => sum + use(), 0)
  let counted = { open: 0, known: 0 }
  let countAgainAt = 0
  let warnAgainAt = 0

  const countNow = () => {
    const began = performance.now()
    countAgainAt = Infinity
    const knownThen = known()
    count().then((open) => {
      const pause = Math.max(countEveryMillis, 50 * (performance.now() - began))
      counted = { open, known: knownThen }
      countAgainAt = performance.now() + pause
      if (open < limit * share) return
      // Also when nobody asks: the next one to come is not to be refused for what was.
      setTimeout(countIfDue, pause + 10).unref()
      if (performance.now() < warnAgainAt) return
      warnAgainAt = performance.now() + warnEveryMillis
      log(warning, { open, limit })
    }, () => countAgainAt = performance.now() + countEveryMillis)
  }

  const countIfDue = () => {
    if (performance.now() >= countAgainAt) countNow()
  }

  return {
    limit,
    /** A use whose number is known at any time; all of them together are counted each second alone. */
    watch: (use: () => number) => void uses.push(use),
    isFull: () => {
      countIfDue()
      return counted.open + known() - counted.known >= limit * share
    }
  } as const
}

/** The descriptors of this process, and whether there are enough left to let somebody in. */
export class Descriptors extends Effect.Service<Descriptors>()("http/Descriptors", {
  effect: Effect.gen(function*() {
    const runtime = yield* Effect.runtime()
    const log = (message: string, what: unknown) => Runtime.runFork(runtime)(Effect.logWarning(message, what))
    return makeDescriptors({ limit: yield* DescriptorLimit, log })
  })
}) {}
