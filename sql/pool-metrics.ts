import { Effect, Metric, Schedule } from "effect"
import { type Pool } from "pg"

/** Named as in OpenTelemetry's conventions for database client connections. */
const connections = Metric.gauge("db.client.connection.count", { description: "Connections to the database, by state" })
const idle = Metric.tagged(connections, "db.client.connection.state", "idle")
const used = Metric.tagged(connections, "db.client.connection.state", "used")
const pending = Metric.gauge("db.client.connection.pending_requests", {
  description: "Statements that wait for a connection"
})

/** Samples a pool every ten seconds. */
export const measurePool = (pool: Pool) =>
  Effect.suspend(() =>
    Effect.all([
      Metric.set(idle, pool.idleCount),
      Metric.set(used, pool.totalCount - pool.idleCount),
      Metric.set(pending, pool.waitingCount)
    ], { discard: true })
  ).pipe(Effect.repeat(Schedule.spaced("10 seconds")))
