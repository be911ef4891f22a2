import { type MachineState } from "#src/machines/Machines.ts"
import { Effect, Metric } from "effect"

const outcomes = Metric.counter("berth.deployments", {
  description: "Deployments that came to their end",
  incremental: true
})

/** Deployments that started to serve. */
export const deployed = Metric.tagged(outcomes, "outcome", "running")
/** Deployments that failed, whatever the cause. */
export const failed = Metric.tagged(outcomes, "outcome", "failed")

/** Machines of servers that ended by themselves. */
export const crashes = Metric.counter("berth.machines.crashes", {
  description: "Machines that ended by themselves",
  incremental: true
})

/** Machines that were ended because they answered no probe. */
export const silences = Metric.counter("berth.machines.silent", {
  description: "Machines that were ended because they did not answer",
  incremental: true
})

/** Machines that run on this host. */
const running = Metric.gauge("berth.machines.running", { description: "Machines that run on this host" })

const machines = Metric.gauge("berth.machines", { description: "Machines on this host, by state" })

/** Sets how many machines there are, by their state. */
export const countMachines = Effect.fnUntraced(function*(all: Iterable<MachineState>) {
  const counts: Record<MachineState["status"], number> = { created: 0, running: 0, exited: 0 }
  for (const { status } of all) counts[status]++
  for (const [state, count] of Object.entries(counts)) {
    yield* Metric.set(Metric.tagged(machines, "state", state), count)
  }
  yield* Metric.set(running, counts.running)
})

const probes = Metric.counter("berth.health.probes", {
  description: "Health probes of the servers of businesses",
  incremental: true
})

const wakes = Metric.counter("berth.servers.wakes", {
  description: "Servers that a request woke",
  incremental: true
})

export const countWake = (outcome: "woken" | "failed") => Metric.increment(Metric.tagged(wakes, "outcome", outcome))

/** `uncounted`: the platform's fault, or nobody's. */
export const countProbe = (outcome: "good" | "bad" | "uncounted") =>
  Metric.increment(Metric.tagged(probes, "outcome", outcome))
