import { serveMetrics } from "#http/front/metrics-server.ts"
import { metricsOf } from "#src/shared/worker-metrics.ts"
import { type Worker } from "node:cluster"

/** The port of metrics for the processes of a gateway, which share it. */
export const serveWorkerMetrics = (workers: Iterable<Worker>) => serveMetrics(() => metricsOf(workers))
