import { CurrentSettings, measures } from "#src/config/Settings.ts"
import { version } from "#src/config/version.ts"
import * as OtlpMetrics from "@effect/opentelemetry/OtlpMetrics"
import * as OtlpSerialization from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, Metric, Option } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"

const eventLoopDelay = Metric.gauge("nodejs.eventloop.delay.p99", { description: "Seconds, of the last ten" })
const residentMemory = Metric.gauge("process.memory.usage", { description: "Bytes of the process's resident set" })

/** Metrics of the process itself, every ten seconds. */
const ProcessMetricsLive = Layer.scopedDiscard(Effect.gen(function*() {
  const delay = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const histogram = monitorEventLoopDelay()
      histogram.enable()
      return histogram
    }),
    (histogram) => Effect.sync(() => histogram.disable())
  )
  const measure = Effect.suspend(() => {
    const seconds = delay.percentile(99) / 1e9
    delay.reset()
    return Effect.zipRight(Metric.set(eventLoopDelay, seconds), Metric.set(residentMemory, process.memoryUsage.rss()))
  })
  yield* Effect.forkScoped(Effect.forever(Effect.delay(measure, "10 seconds")))
}))

/**
 * Traces and metrics by OTLP over HTTP (JSON) to `OTEL_EXPORTER_OTLP_ENDPOINT`; nothing without it, but what
 * Prometheus reads at `METRICS_PORT`. Logs are not
 * exported: only the console logger redacts secrets.
 */
export const TelemetryLive = Layer.unwrapEffect(Effect.map(
  CurrentSettings,
  (settings) => {
    const exported = Option.match(settings.otlpEndpoint, {
      onNone: () => Layer.empty,
      onSome: (endpoint) => {
        const common = {
          resource: { serviceName: "berth", serviceVersion: version },
          shutdownTimeout: "1 second"
        } as const
        return Layer.mergeAll(
          OtlpTracer.layer({ url: `${endpoint}/v1/traces`, ...common }),
          OtlpMetrics.layer({ url: `${endpoint}/v1/metrics`, ...common })
        ).pipe(Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer]))
      }
    })
    return measures(settings) ? Layer.merge(exported, ProcessMetricsLive) : exported
  }
))
