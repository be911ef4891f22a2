import { type ClientResponse } from "#http/connection/client-response.ts"
import { pathOf } from "#http/connection/path-of.ts"
import { measureRequest } from "#http/connection/request-metrics.ts"
import { measures, type Settings } from "#src/config/Settings.ts"
import { type Form } from "#src/servers/locate.ts"
import { Effect, Option, Runtime } from "effect"
import { type IncomingMessage } from "node:http"
import { tracer } from "./trace.ts"

/** One label for all servers and paths: metrics have no room for each of them. */
const routes: Readonly<Record<Form, string>> = { host: "{slug}.{mcp_domain}", path: "/s/{slug}" }

const ignore = () => {}

/** Logs (with `ACCESS_LOG`), measures and traces requests for hosted servers. */
export const observer = (settings: Settings, runtime: Runtime.Runtime<never>) => {
  const { accessLog } = settings
  const isMeasured = measures(settings)
  if (!accessLog && !isMeasured) return ignore
  const trace = Option.isSome(settings.otlpEndpoint) ? tracer(Runtime.runSync(runtime)(Effect.tracer)) : ignore
  return (req: IncomingMessage, res: ClientResponse, form: Form) => {
    trace(req, res, routes[form])
    const started = performance.now()
    const { headers: { host = "" }, method = "" } = req
    const path = pathOf(req.url ?? "")
    res.once("close", () => {
      const elapsed = performance.now() - started
      // 0: the caller disconnected before a response.
      const status = res.headersSent ? res.statusCode : 0
      if (isMeasured) measureRequest({ method, route: routes[form], status }, elapsed / 1000)
      if (!accessLog) return
      Runtime.runFork(runtime)(
        Effect.logInfo(`${method} ${form === "host" ? host : ""}${path} ${status === 0 ? "aborted" : status}`).pipe(
          Effect.annotateLogs("milliseconds", Math.round(elapsed))
        )
      )
    })
  }
}
