import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { ServerRequests } from "#src/usage/ServerRequests.ts"
import { Effect } from "effect"
import { hoursOf, type MetricsPeriod, type ServerMetrics } from "./ServerMetrics.ts"
import { Servers } from "./Servers.ts"

const rounded = (millis: number) => Math.round(millis * 100) / 100

/** A server's figures, for its owner (docs/decisions/server-metrics.md). */
export class Metrics extends Effect.Service<Metrics>()("servers/Metrics", {
  effect: Effect.gen(function*() {
    const servers = yield* Servers
    const requests = yield* ServerRequests
    return {
      read: Effect.fn("Metrics.read")(function*(serverId: string, { period }: { readonly period: MetricsPeriod }) {
        const { id } = yield* servers.visible(serverId)
        const { averageMillis, errors, p99Millis, requests: all } = yield* requests.ofLast(id, hoursOf[period])
        return {
          requestCount: all,
          errorCount: errors,
          avgLatencyMs: rounded(averageMillis),
          p99LatencyMs: rounded(p99Millis)
        } satisfies typeof ServerMetrics.Type
      }, withPolicy(anyScope("metrics:read")))
    } as const
  })
}) {}
