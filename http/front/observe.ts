import { pathOf } from "#http/connection/path-of.ts"
import { measureRequest } from "#http/connection/request-metrics.ts"
import { type Route } from "#http/traits/Traits.ts"
import { measures, type Settings } from "#src/config/Settings.ts"
import { type HttpServerRequest, type HttpServerResponse, HttpTraceContext } from "@effect/platform"
import { Effect, LogLevel, Option } from "effect"

/** One line for each request, at debug level unless `ACCESS_LOG` is set. */
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
 * Logs, traces and measures requests. Without an OTLP endpoint there are no spans, and where nobody reads metrics there
 * are none of them either (bench: `npm run bench requests`).
 */
export const observer = (settings: Settings) => {
  const { accessLog, logLevel, otlpEndpoint } = settings
  const level = accessLog ? LogLevel.Info : LogLevel.Debug
  const isLogged = LogLevel.greaterThanEqual(level, logLevel)
  const isTraced = Option.isSome(otlpEndpoint)
  const isMeasured = measures(settings)

  const span = <E, R>(
    request: HttpServerRequest.HttpServerRequest,
    route: Route,
    response: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
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
        response.pipe(
          Effect.withParentSpan(span),
          Effect.tap(({ status }) => Effect.sync(() => span.attribute("http.response.status_code", status)))
        )
    )

  return <E, R>(
    request: HttpServerRequest.HttpServerRequest,
    route: Route,
    response: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) => {
    const started = performance.now()
    return Effect.flatMap(isTraced ? span(request, route, response) : response, (sent) => {
      const elapsed = performance.now() - started
      if (isMeasured) {
        measureRequest({ method: request.method, route: route.path, status: sent.status }, elapsed / 1000)
      }
      return isLogged
        ? Effect.as(logRequest(level, request, sent.status, elapsed), sent)
        : Effect.succeed(sent)
    })
  }
}
