import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { ServerRequests } from "#src/usage/ServerRequests.ts"
import { ToolCalls } from "#src/usage/ToolCalls.ts"
import { Effect } from "effect"
import {
  hoursOf,
  type MetricsPeriod,
  type MetricsSeries,
  type ServerMetrics,
  stepOf,
  type ToolMetrics
} from "./ServerMetrics.ts"
import { Servers } from "./Servers.ts"

const rounded = (millis: number) => Math.round(millis * 100) / 100

interface Asked {
  readonly period: MetricsPeriod
}
interface Latency {
  readonly averageMillis: number
  readonly p99Millis: number
}

const latencyOf = ({ averageMillis, p99Millis }: Latency) => ({
  avgLatencyMs: rounded(averageMillis),
  // It is known within 2 %, the average exactly.
  p99LatencyMs: rounded(Math.max(averageMillis, p99Millis))
})

const figures = (
  { errors, requests, ...latency }: Latency & { readonly requests: number; readonly errors: number }
) => ({
  requestCount: requests,
  errorCount: errors,
  ...latencyOf(latency)
})

const toolFigures = <Rest>({ averageMillis, p99Millis, ...rest }: Latency & Rest) => ({
  ...rest,
  ...latencyOf({ averageMillis, p99Millis })
})

/** A server's figures, for its owner (docs/decisions/server-metrics.md, docs/decisions/tool-metrics.md). */
export class Metrics extends Effect.Service<Metrics>()("servers/Metrics", {
  effect: Effect.gen(function*() {
    const servers = yield* Servers
    const requests = yield* ServerRequests
    const calls = yield* ToolCalls
    return {
      read: Effect.fn("Metrics.read")(function*(serverId: string, { period }: Asked) {
        const { id } = yield* servers.visible(serverId)
        return figures(yield* requests.ofLast(id, hoursOf[period])) satisfies typeof ServerMetrics.Type
      }, withPolicy(anyScope("metrics:read"))),
      series: Effect.fn("Metrics.series")(function*(serverId: string, { period }: Asked) {
        const { id } = yield* servers.visible(serverId)
        const steps = yield* requests.seriesOf(id, hoursOf[period], stepOf[period])
        return {
          stepSeconds: stepOf[period],
          items: steps.map(({ startsAt, ...rest }) => ({ startsAt, ...figures(rest) }))
        } satisfies typeof MetricsSeries.Type
      }, withPolicy(anyScope("metrics:read"))),
      tools: Effect.fn("Metrics.tools")(function*(serverId: string, { period }: Asked) {
        const { id } = yield* servers.visible(serverId)
        const { items, other } = yield* calls.ofLast(id, hoursOf[period])
        return {
          items: items.map(toolFigures),
          other: other === null ? null : toolFigures(other)
        } satisfies typeof ToolMetrics.Type
      }, withPolicy(anyScope("metrics:read")))
    } as const
  })
}) {}
