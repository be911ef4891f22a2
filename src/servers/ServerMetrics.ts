import { failsWith } from "#src/shared/Failure.ts"
import { Schema } from "effect"

/** Contract: Platform resources, server metrics. */
export const ServerMetrics = Schema.Struct({
  requestCount: Schema.Int,
  errorCount: Schema.Int,
  avgLatencyMs: Schema.Number,
  p99LatencyMs: Schema.Number
}).annotations({ title: "ServerMetrics" })

/** Contract: Platform errors, 501 Not implemented (server metrics). */
export class MetricsNotImplemented
  extends Schema.TaggedError<MetricsNotImplemented>()("MetricsNotImplemented", {}, failsWith(501))
{
  override get message() {
    return "Server metrics are not available yet"
  }
}
