import { addressOf } from "#http/callers/address.ts"
import { type ClientResponse } from "#http/connection/client-response.ts"
import { isPausing, type Route } from "#src/routing/Route.ts"
import { type Wakes, type Woken } from "#src/routing/Wakes.ts"
import { addressBucket } from "#src/shared/client-address.ts"
import { type RateLimit } from "#src/shared/RateLimit.ts"
import { Runtime } from "effect"
import { type IncomingMessage } from "node:http"
import { type Answer, failure } from "./answer.ts"
import { type RequestsInFlight } from "./in-flight.ts"
import { noSuchServer, notRunning, restarting } from "./refusals.ts"

/** Wakes of a byoa server by one address in a minute: its token is checked by the machine, after it was woken. */
const wakesAMinute = 10

const unavailable = (message: string, retryAfter: number) =>
  failure(503, "SERVICE_UNAVAILABLE", message, { "Retry-After": String(Math.max(1, Math.ceil(retryAfter))) })

/** What is answered in place of the server. */
const answerOf = (woken: Exclude<Woken, { _tag: "Awake" }>): Answer => {
  switch (woken._tag) {
    case "Gone":
      return noSuchServer
    case "NotRunning":
      return notRunning(woken.route)
    case "Failed":
      return unavailable(
        `The server could not be started: ${woken.problem}. Its owner finds more in its log`,
        woken.retryAfterSeconds
      )
    case "Pausing":
      return unavailable(
        "The server hangs, or has ended several times in a row, and is started again shortly; its owner finds why in its log",
        woken.retryAfterSeconds
      )
    case "Crowded":
      return unavailable("The server is starting, and too many requests wait for it; try again shortly", 2)
    case "Late":
      return unavailable(`The server did not start within ${woken.seconds} seconds; try again shortly`, 5)
    case "Ended":
      return restarting()
  }
}

type Awoken = { readonly route: Route } | { readonly answer: Answer }

interface WakerOptions {
  readonly wakes: Wakes
  readonly limits: RateLimit
  readonly trustProxy: number
  readonly runtime: Runtime.Runtime<never>
  readonly inFlight: RequestsInFlight
}

/** Whether requests wait for its machine, or are told to come again: the server sleeps, or none is there that answers. */
export const isAway = (route: Route) => {
  const { activeDeploymentId, asleep, machine, status } = route
  return asleep || isPausing(route) || machine === undefined && status === "running" && activeDeploymentId !== null
}

/**
 * Holds an admitted request whose server sleeps, or has lost its machine, until it runs. Nothing of its body is read meanwhile, so that the
 * client's connection holds it back.
 */
export const waker = ({ inFlight, limits, runtime, trustProxy, wakes }: WakerOptions) => {
  const limited = async (req: IncomingMessage, { serverId }: Route) => {
    const key = `wake:${serverId}:${addressBucket(addressOf(req, trustProxy))}`
    const rule = { key, limit: wakesAMinute, window: "1 minute" } as const
    const { allowed, retryAfterSeconds } = await Runtime.runPromise(runtime)(limits.consumeOrPass(rule))
    const message =
      `The server is asleep, and this address has sent more than ${wakesAMinute} requests a minute to wake it`
    return allowed ? undefined : unavailable(message, retryAfterSeconds)
  }

  return async (route: Route, req: IncomingMessage, res: ClientResponse): Promise<Awoken> => {
    const refusal = route.status === "stopped" && route.authMode === "byoa" ? await limited(req, route) : undefined
    if (refusal !== undefined) return { answer: refusal }
    const waiting = new AbortController()
    const end = () => waiting.abort()
    const entry = inFlight.begin({ cut: end })
    res.once("close", end)
    try {
      const woken = await wakes.wait(route, waiting.signal)
      return woken._tag === "Awake" ? { route: woken.route } : { answer: answerOf(woken) }
    } finally {
      res.off("close", end)
      inFlight.end(entry)
    }
  }
}
