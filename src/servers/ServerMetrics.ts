import { Query } from "#src/shared/text.ts"
import { Schema } from "effect"

/** Contract: Platform resources, server metrics. */
export const ServerMetrics = Schema.Struct({
  requestCount: Schema.Int.annotations({ description: "Requests that were passed to the server" }),
  errorCount: Schema.Int.annotations({ description: "Those answered with 500 or more, or not answered (502)" }),
  avgLatencyMs: Schema.Number.annotations({
    description: "Milliseconds until the answer is complete, without the event streams of GET; 0 without requests"
  }),
  p99LatencyMs: Schema.Number.annotations({ description: "The same that 99 of 100 requests stay below, within 2 %" })
}).annotations({ title: "ServerMetrics" })

export const hoursOf = { "1h": 1, "24h": 24, "7d": 7 * 24, "30d": 30 * 24 } as const
export type MetricsPeriod = keyof typeof hoursOf

/** `GET /v1/servers/:serverId/metrics`. */
export const metricsArguments = {
  period: Schema.optionalWith(Schema.Literal("1h", "24h", "7d", "30d"), { exact: true, default: () => "24h" as const })
}
export const MetricsQuery = Query(metricsArguments)
