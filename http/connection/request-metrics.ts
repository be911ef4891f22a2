import { Metric, MetricBoundaries } from "effect"

/** Bucket bounds of OpenTelemetry's conventions ("HTTP Metrics", http.server.request.duration). */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

const duration = Metric.histogram(
  "http.server.request.duration",
  MetricBoundaries.fromIterable(bounds),
  "Seconds until a request was answered"
)

/** Labels of a request: the declared route, since actual paths are unlimited in number. */
export interface Measured {
  readonly method: string
  readonly route: string
  readonly status: number
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

const byLabels = new Map<string, (seconds: number) => void>()

/** Counts an answered request. */
export const measureRequest = ({ method, route, status }: Measured, seconds: number) => {
  // Clients can send any method; routes and statuses are ours.
  const verb = methods.has(method) ? method : "_OTHER"
  const key = `${verb} ${status} ${route}`
  let update = byLabels.get(key)
  if (update === undefined) {
    const tagged = duration.pipe(
      Metric.tagged("http.request.method", verb),
      Metric.tagged("http.route", route),
      Metric.tagged("http.response.status_code", String(status))
    )
    update = (value) => tagged.unsafeUpdate(value, [])
    byLabels.set(key, update)
  }
  update(seconds)
}
