import { pathOf } from "#http/connection/path-of.ts"
import { measureRequest } from "#http/connection/request-metrics.ts"
import { type Route } from "#http/traits/Traits.ts"
import { type Settings } from "#src/config/Settings.ts"
import { type HttpServerRequest, type HttpServerResponse, HttpTraceContext } from "@effect/platform"
import { Effect, LogLevel, Option } from "effect"

/** One line a request: when it is asked for, else at debug level. */
const logRequest = (
  level: LogLevel.LogLevel,
  { method, url }: HttpServerRequest.HttpServerRequest,
  status: number,
  milliseconds: number
) =>
  Effect.logWithLevel(level, `${method} ${pathOf(url)} ${status}`).pipe(
    Effect.annotateLogs("milliseconds", Math.round(milliseconds))
  )

/**
 * What operators see of requests: a line in the log, a span, and a place in the metrics. Without an endpoint to send
 * them to there are neither spans nor metrics (bench: `npm run bench requests`).
 */
export const observer = ({ accessLog, logLevel, otlpEndpoint }: Settings) => {
  const level = accessLog ? LogLevel.Info : LogLevel.Debug
  const isLogged = LogLevel.greaterThanEqual(level, logLevel)
  const exports = Option.isSome(otlpEndpoint)

  const span = <E, R>(
    request: HttpServerRequest.HttpServerRequest,
    route: Route,
    answered: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) =>
    Effect.useSpan(
      route.path === "" ? request.method : `${request.method} ${route.path}`,
      {
        kind: "server",
        parent: Option.getOrUndefined(HttpTraceContext.fromHeaders(request.headers)),
        attributes: {
          "http.request.method": request.method,
          "http.route": route.path,
          "url.path": pathOf(request.url)
        }
      },
      (span) =>
        answered.pipe(
          Effect.withParentSpan(span),
          Effect.tap(({ status }) => Effect.sync(() => span.attribute("http.response.status_code", status)))
        )
    )

  return <E, R>(
    request: HttpServerRequest.HttpServerRequest,
    route: Route,
    answered: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) => {
    const started = performance.now()
    return Effect.flatMap(exports ? span(request, route, answered) : answered, (response) => {
      const took = performance.now() - started
      if (exports) measureRequest({ method: request.method, route: route.path, status: response.status }, took / 1000)
      return isLogged
        ? Effect.as(logRequest(level, request, response.status, took), response)
        : Effect.succeed(response)
    })
  }
}
