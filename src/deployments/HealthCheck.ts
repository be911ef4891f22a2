import { MachineError, Machines } from "#src/machines/Machines.ts"
import { isPackage } from "#src/packages/reference.ts"
import { type ServerRow } from "#src/servers/Server.ts"
import { Clock, Data, Effect } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import {
  advice,
  complaint,
  contractualPath,
  exited,
  exitedAfter,
  isNotFound,
  type Probe,
  type Speaks,
  telling,
  timedOut
} from "./health.ts"
import { lastWords } from "./last-words.ts"
import { probe, refused } from "./probe.ts"

/** The machine did not become healthy; the message describes the last probe or the exit. */
export class Unhealthy extends Data.TaggedError("Unhealthy")<{ readonly message: string }> {}

export interface HealthRule {
  readonly machine: string
  readonly port: number
  readonly healthPath: string
  readonly healthTimeoutSeconds: number
  readonly speaks: Speaks
  /** MCP passed in place of its health path, which answers 404: then that answer is its sign of life. */
  readonly notFoundIsAlive: boolean
}

/** The rule of a deployment, on any of its starts. */
export const healthRule = (
  { healthPath, healthTimeoutSeconds }: Pick<ServerRow, "healthPath" | "healthTimeoutSeconds">,
  { admittedBy, id, imageUri, port, transport }: Pick<
    DeploymentRow,
    "admittedBy" | "id" | "imageUri" | "port" | "transport"
  >
): HealthRule => ({
  machine: id,
  port,
  healthPath,
  healthTimeoutSeconds,
  speaks: !isPackage(imageUri) ? "image" : transport === "http" ? "http" : "stdio",
  notFoundIsAlive: admittedBy === "mcp"
})

export interface Hooks {
  /** It was healthy before: one that ends now has answered. */
  readonly answered?: boolean
  /**
   * Tried when the contract's path answers 404, for these seconds at most: undefined when it passes, else why not, which
   * completes "answered with status 404, and …".
   */
  readonly onNotFound?: (seconds: number) => Effect.Effect<string | undefined>
  /** Makes what its machine said fit to be shown, before it is cut. */
  readonly mask?: (words: string) => Effect.Effect<string>
  /** Told what it waits for, as an effect that finds out what to do about it. */
  readonly onWaiting?: (problem: Effect.Effect<string>) => void
}

/**
 * Milliseconds between probes: few at first, since a sleeping server's request waits; for one probe, and between two
 * tries of `onNotFound`.
 */
const firstPause = 10
const longestPause = 200
const patience = 5_000
const calm = 1_000

/**
 * Probes until the answer is 200 with JSON or what may stand in for it, the time is up, or the machine has exited.
 * Returns the milliseconds, and what passed.
 */
export const awaitHealthy = Effect.fn("awaitHealthy")(
  function*(rule: HealthRule, { answered = false, mask = Effect.succeed, onNotFound, onWaiting }: Hooks = {}) {
    const { healthPath, healthTimeoutSeconds, machine, notFoundIsAlive, port } = rule
    const machines = yield* Machines
    const start = yield* Clock.currentTimeMillis
    const deadline = start + healthTimeoutSeconds * 1000
    let pause = firstPause
    let listened = false
    let nextTry = 0
    let inPlace: string | undefined
    let heard: Probe | undefined

    const explain = Effect.fnUntraced(function*(result: Probe) {
      const ports = result._tag === "NotListening"
        ? yield* Effect.orElseSucceed(machines.listening(machine), () => [port])
        : []
      return advice(healthPath, result, port, ports, rule.speaks) +
        (inPlace === undefined ? "" : `, and ${inPlace}`)
    })

    while (true) {
      const state = yield* machines.inspect(machine)
      if (state === undefined) {
        return yield* new MachineError({ operation: "inspect", machine, message: "the machine is gone" })
      }
      if (state.status === "exited") {
        const words = yield* Effect.flatMap(lastWords(machines, machine), mask)
        const message = answered
          ? exitedAfter(healthPath, state.exitCode, words)
          : exited(healthPath, state.exitCode, words, { listened, speaks: rule.speaks })
        return yield* new Unhealthy({ message })
      }
      const remaining = deadline - (yield* Clock.currentTimeMillis)
      const time = Math.max(100, Math.min(patience, remaining))
      const result = yield* probe(state.address, port, healthPath, time)
      const now = yield* Clock.currentTimeMillis
      const health = { by: "health" as const, took: now - start }
      if (complaint(result, port) === undefined) return health
      heard = telling(heard, result, time < patience)
      listened ||= result._tag !== "NotListening" || result.why !== refused
      const notFound = isNotFound(result)
      if (notFound && notFoundIsAlive) return health
      if (!notFound) inPlace = undefined
      else if (onNotFound !== undefined && healthPath === contractualPath && now >= nextTry) {
        onWaiting?.(Effect.succeed(`${complaint(result, port)}; trying MCP in its place`))
        inPlace = yield* onNotFound((deadline - now) / 1000)
        nextTry = (yield* Clock.currentTimeMillis) + calm
        if (inPlace === undefined) return { by: "mcp" as const, took: nextTry - calm - start }
      }
      if ((yield* Clock.currentTimeMillis) + pause >= deadline) {
        return yield* new Unhealthy({ message: timedOut(healthPath, healthTimeoutSeconds, yield* explain(heard)) })
      }
      onWaiting?.(explain(result))
      yield* Effect.sleep(pause)
      pause = Math.min(longestPause, Math.ceil(pause * 1.5))
    }
  }
)
