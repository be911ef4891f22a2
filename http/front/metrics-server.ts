import { CurrentSettings } from "#src/config/Settings.ts"
import { prometheusText } from "#src/shared/prometheus.ts"
import { Effect, Layer, Option } from "effect"
import { createServer, type RequestListener } from "node:http"
import { start } from "./listen.ts"

const answer: RequestListener = (req, res) => {
  req.resume()
  const isRead = req.method === "GET" || req.method === "HEAD"
  const status = !isRead ? 405 : req.url?.split("?", 1)[0] === "/metrics" ? 200 : 404
  const type = { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" }
  res.writeHead(status, { ...type, ...(isRead ? {} : { allow: "GET, HEAD" }) })
  res.end(status === 200 ? prometheusText() : status === 405 ? "Only GET\n" : "The metrics are at /metrics\n")
}

/**
 * Metrics for the operator at `METRICS_PORT`, off by default. A port of its own: who may read them is decided by who
 * reaches it.
 */
export const MetricsServerLive = Layer.scopedDiscard(Effect.gen(function*() {
  const { metricsHost, metricsPort } = yield* CurrentSettings
  if (Option.isNone(metricsPort)) return
  const server = createServer({ requestTimeout: 10_000, keepAliveTimeout: 5_000 }, answer)
  server.maxConnections = 50
  yield* start(server, { host: metricsHost, port: metricsPort.value }, ["METRICS_HOST", "METRICS_PORT"])
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )
}))
