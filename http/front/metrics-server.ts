import { CurrentSettings } from "#src/config/Settings.ts"
import { type Family, prometheusText, readMetrics } from "#src/shared/prometheus.ts"
import { answerSupervisor } from "#src/shared/worker-metrics.ts"
import { Effect, Layer, Option } from "effect"
import cluster from "node:cluster"
import { createServer, type RequestListener } from "node:http"
import { start } from "./listen.ts"

const listener = (read: () => Promise<ReadonlyArray<Family>>): RequestListener => (req, res) => {
  req.resume()
  const isRead = req.method === "GET" || req.method === "HEAD"
  const status = !isRead ? 405 : req.url?.split("?", 1)[0] === "/metrics" ? 200 : 404
  const type = { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" }
  res.writeHead(status, { ...type, ...(isRead ? {} : { allow: "GET, HEAD" }) })
  if (status !== 200) return res.end(status === 405 ? "Only GET\n" : "The metrics are at /metrics\n")
  void read().then((families) => res.end(prometheusText(families)))
}

/**
 * Metrics for the operator at `METRICS_PORT`, off by default. A port of its own: who may read them is decided by who
 * reaches it.
 */
export const serveMetrics = Effect.fn("serveMetrics")(function*(read: () => Promise<ReadonlyArray<Family>>) {
  const { metricsHost, metricsPort } = yield* CurrentSettings
  if (Option.isNone(metricsPort)) return
  const server = createServer({ requestTimeout: 10_000, keepAliveTimeout: 5_000 }, listener(read))
  server.maxConnections = 50
  yield* start(server, { host: metricsHost, port: metricsPort.value }, ["METRICS_HOST", "METRICS_PORT"])
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )
})

/** Those of this process; one of several on a port leaves them to its supervisor (`src/cli/workers.ts`). */
export const MetricsServerLive = Layer.scopedDiscard(
  cluster.isWorker
    ? Effect.acquireRelease(Effect.sync(answerSupervisor), (end) => Effect.sync(end))
    : serveMetrics(() => Promise.resolve(readMetrics()))
)
