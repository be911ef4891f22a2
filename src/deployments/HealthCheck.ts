import { MachineError, Machines } from "#src/machines/Machines.ts"
import { Clock, Data, Effect } from "effect"
import { complaint, exited, timedOut } from "./health.ts"
import { lastWords } from "./last-words.ts"
import { probe } from "./probe.ts"

/** The machine did not become healthy; the message describes the last probe or the exit. */
export class Unhealthy extends Data.TaggedError("Unhealthy")<{ readonly message: string }> {}

export interface HealthRule {
  readonly machine: string
  readonly port: number
  readonly healthPath: string
  readonly healthTimeoutSeconds: number
}

/** Milliseconds between probes, and for one probe. */
const pause = 200
const patience = 5_000

/** Probes until the answer is 200 with JSON, the time is up, or the machine has exited. Returns the milliseconds. */
export const awaitHealthy = Effect.fn("awaitHealthy")(
  function*({ healthPath, healthTimeoutSeconds, machine, port }: HealthRule) {
    const machines = yield* Machines
    const start = yield* Clock.currentTimeMillis
    const deadline = start + healthTimeoutSeconds * 1000
    while (true) {
      const state = yield* machines.inspect(machine)
      if (state === undefined) {
        return yield* new MachineError({ operation: "inspect", machine, message: "the machine is gone" })
      }
      if (state.status === "exited") {
        const words = yield* lastWords(machines, machine)
        return yield* new Unhealthy({ message: exited(healthPath, state.exitCode, words) })
      }
      const remaining = deadline - (yield* Clock.currentTimeMillis)
      const result = yield* probe(state.address, port, healthPath, Math.max(100, Math.min(patience, remaining)))
      const problem = complaint(result, port)
      const now = yield* Clock.currentTimeMillis
      if (problem === undefined) return now - start
      if (now + pause >= deadline) {
        return yield* new Unhealthy({ message: timedOut(healthPath, healthTimeoutSeconds, problem) })
      }
      yield* Effect.sleep(pause)
    }
  }
)
