import { CurrentSettings } from "#src/config/Settings.ts"
import { Effect, Runtime } from "effect"
import { isOff, isPausing, type Mark, type Route } from "./Route.ts"
import { Routes } from "./Routes.ts"
import { ServerUse } from "./ServerUse.ts"
import { ServerUseRepo } from "./ServerUseRepo.ts"

/** What became of a request that waits for a server to wake, or to come back after its machine ended. */
export type Woken =
  /** It runs. */
  | { readonly _tag: "Awake"; readonly route: Route }
  /** Its owner stopped it meanwhile, or it can't run. */
  | { readonly _tag: "NotRunning"; readonly route: Route }
  /** It was deleted. */
  | { readonly _tag: "Gone" }
  /** It could not be started. `problem` is a sentence without its full stop. */
  | { readonly _tag: "Failed"; readonly problem: string; readonly retryAfterSeconds: number }
  /** Its machine hangs, or has ended so often that it is started again only then. */
  | { readonly _tag: "Pausing"; readonly retryAfterSeconds: number }
  /** So many wait that this one is not kept. */
  | { readonly _tag: "Crowded" }
  | { readonly _tag: "Late"; readonly seconds: number }
  /** The caller has hung up, or the process ends. */
  | { readonly _tag: "Ended" }

/** Requests that wait in this process, for one server and in all: none is read meanwhile, each holds a connection. */
const mostForOne = 256
const mostInAll = 2_000
/** In case a notification was missed. */
const lookAgainMillis = 500
/** For the host to see that a machine has ended, and to begin to start it again; less for one that seems to run. */
const noticedWithinMillis = 3_000
const endsWithinMillis = 1_000

interface Flight {
  readonly result: Promise<Woken>
  waiting: number
}

/** A machine that could not be reached, and when that was, by `performance.now()`. */
interface Lost {
  readonly mark: Mark | null
  readonly since: number
}

/** Whether the host may not know of it yet. */
const isUnnoticed = ({ machine, mark, status }: Route, lost: Lost) =>
  status === "running" && mark?.version === lost.mark?.version && mark?.run === lost.mark?.run &&
  performance.now() - lost.since < (machine === undefined ? noticedWithinMillis : endsWithinMillis)

const outcomeOf = (route: Route | undefined, lost?: Lost): Woken | undefined => {
  if (route === undefined) return { _tag: "Gone" }
  if (!route.asleep) {
    if (isPausing(route)) return { _tag: "Pausing", retryAfterSeconds: route.wakeRetrySeconds }
    if (lost !== undefined && isUnnoticed(route, lost)) return undefined
    return { _tag: route.machine === undefined || isOff(route) ? "NotRunning" : "Awake", route }
  }
  return route.wakeRetrySeconds > 0
    ? { _tag: "Failed", problem: route.wakeProblem ?? "it can't be started", retryAfterSeconds: route.wakeRetrySeconds }
    : undefined
}

const after = <A>(millis: number, value: A) => {
  let timer: NodeJS.Timeout | undefined
  const promise = new Promise<A>((resolve) => timer = setTimeout(resolve, millis, value))
  return { promise, clear: () => clearTimeout(timer) }
}

const ended = (signal: AbortSignal) =>
  new Promise<Woken>((resolve) => {
    if (signal.aborted) resolve({ _tag: "Ended" })
    else signal.addEventListener("abort", () => resolve({ _tag: "Ended" }), { once: true })
  })

/**
 * Requests to servers that sleep, or whose machine ended by itself: they ask the host for the server, once for all of a
 * process, and wait until it runs.
 */
export class Wakes extends Effect.Service<Wakes>()("routing/Wakes", {
  effect: Effect.gen(function*() {
    const { wakeSeconds } = yield* CurrentSettings
    const routes = yield* Routes
    const { gateway } = yield* ServerUse
    const repo = yield* ServerUseRepo
    const run = Runtime.runPromise(yield* Effect.runtime())
    const flights = new Map<string, Flight>()
    let waiting = 0

    const ask = (serverId: string) => run(Effect.timeout(repo.want(gateway, serverId), "5 seconds"))

    const follow = async ({ asleep, mark, serverId, slug }: Route, isWanted: () => boolean): Promise<Woken> => {
      const lost = asleep ? undefined : { mark, since: performance.now() }
      let isChanged = false
      let look = () => {}
      const unsubscribe = routes.onChange(slug, () => {
        isChanged = true
        look()
      })
      try {
        await ask(serverId)
        while (isWanted()) {
          isChanged = false
          const outcome = outcomeOf(await routes.find(slug), lost)
          if (outcome !== undefined) return outcome
          if (isChanged) continue
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, lookAgainMillis)
            look = () => {
              clearTimeout(timer)
              resolve()
            }
          })
          // When the host looked, the machine may have been just about to end.
          if (lost === undefined || isChanged || performance.now() - lost.since >= endsWithinMillis) continue
          routes.expire(slug)
          await ask(serverId)
        }
        return { _tag: "Ended" }
      } finally {
        unsubscribe()
      }
    }

    const begin = (route: Route): Flight => {
      let isOver = false
      const flight: Flight = {
        waiting: 0,
        result: follow(route, () => flight.waiting > 0 && !isOver).finally(() => {
          isOver = true
          flights.delete(route.slug)
        })
      }
      flight.result.catch(() => undefined)
      flights.set(route.slug, flight)
      return flight
    }

    return {
      /** For a server that sleeps, else its machine was found to be gone. Rejects when the database can't be asked. */
      wait: async (route: Route, signal: AbortSignal): Promise<Woken> => {
        const known = route.asleep || isPausing(route) ? outcomeOf(route) : undefined
        if (known !== undefined) return known
        const under = flights.get(route.slug)
        if (waiting >= mostInAll || (under?.waiting ?? 0) >= mostForOne) return { _tag: "Crowded" }
        const flight = under ?? begin(route)
        const late = after<Woken>(wakeSeconds * 1000, { _tag: "Late", seconds: wakeSeconds })
        flight.waiting++
        waiting++
        try {
          return await Promise.race([flight.result, late.promise, ended(signal)])
        } finally {
          late.clear()
          flight.waiting--
          waiting--
        }
      }
    } as const
  })
}) {}
