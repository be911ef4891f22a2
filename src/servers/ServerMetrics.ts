import { Query, Timestamp } from "#src/shared/text.ts"
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

const Millis = (description: string) => Schema.Number.annotations({ description })

/** A part of a period, the four figures of which are those of ServerMetrics. */
const MetricsStep = Schema.Struct({
  startsAt: Timestamp.annotations({ description: "Its beginning; that of the period may be after it" }),
  ...ServerMetrics.fields
}).annotations({ title: "MetricsStep" })

export const MetricsSeries = Schema.Struct({
  stepSeconds: Schema.Int.annotations({ description: "How long a step is" }),
  items: Schema.Array(MetricsStep).annotations({ description: "The oldest first, those without a request too" })
}).annotations({ title: "MetricsSeries" })

const toolFigures = {
  calls: Schema.Int.annotations({ description: "Calls that were passed to the server" }),
  errors: Schema.Int.annotations({
    description: "Those answered by isError, by an error of JSON-RPC, with 400 or more, or not at all"
  }),
  avgLatencyMs: Millis("Milliseconds until the answer is complete; 0 where no call is timed"),
  p99LatencyMs: Millis("The same that 99 of 100 calls stay below, within 2 %"),
  clients: Schema.Array(Schema.Struct({ name: Schema.String, calls: Schema.Int })).annotations({
    description: "Who called, as clients name themselves (clientInfo), the most calls first; at most 20"
  }),
  otherClients: Schema.Int.annotations({ description: "Calls of clients that are not among them, or have no name" })
}

export const ToolMetrics = Schema.Struct({
  items: Schema.Array(
    Schema.Struct({
      tool: Schema.String.annotations({ description: "Its name as it was called" }),
      ...toolFigures
    }).annotations({ title: "ToolFigures" })
  ).annotations({ description: "The most called first; at most 100" }),
  other: Schema.NullOr(Schema.Struct(toolFigures)).annotations({
    description: "All tools that are not among them; null without a call of one"
  })
}).annotations({ title: "ToolMetrics" })

/** Steps of a series, in seconds. */
export const stepOf = { "1h": 60, "24h": 3600, "7d": 6 * 3600, "30d": 24 * 3600 } as const

export const hoursOf = { "1h": 1, "24h": 24, "7d": 7 * 24, "30d": 30 * 24 } as const
export type MetricsPeriod = keyof typeof hoursOf

/** `GET /v1/servers/:serverId/metrics`. */
export const metricsArguments = {
  period: Schema.optionalWith(Schema.Literal("1h", "24h", "7d", "30d"), { exact: true, default: () => "24h" as const })
}
export const MetricsQuery = Query(metricsArguments)
