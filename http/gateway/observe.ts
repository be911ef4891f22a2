import { pathOf } from "#http/connection/path-of.ts"
import { measureRequest } from "#http/connection/request-metrics.ts"
import { type Settings } from "#src/config/Settings.ts"
import { type Form } from "#src/servers/locate.ts"
import { Effect, Option, Runtime } from "effect"
import { type IncomingMessage, type ServerResponse } from "node:http"

/** Whatever the server, and whatever its own paths: metrics have no room for each of them. */
const routes: Readonly<Record<Form, string>> = { host: "{slug}.{mcp_domain}", path: "/s/{slug}" }

const nothing = () => {}

/** What operators see of requests for hosted servers: a line in the log when it is asked for, and a place in the metrics. */
export const observer = ({ accessLog, otlpEndpoint }: Settings, runtime: Runtime.Runtime<never>) => {
  const exports = Option.isSome(otlpEndpoint)
  if (!accessLog && !exports) return nothing
  return (req: IncomingMessage, res: ServerResponse, form: Form) => {
    const started = performance.now()
    const { headers: { host = "" }, method = "" } = req
    const path = pathOf(req.url ?? "")
    res.once("close", () => {
      const took = performance.now() - started
      // A caller that hung up was not answered, whatever the answer would have been.
      const status = res.headersSent ? res.statusCode : 0
      if (exports) measureRequest({ method, route: routes[form], status }, took / 1000)
      if (!accessLog) return
      Runtime.runFork(runtime)(
        Effect.logInfo(`${method} ${form === "host" ? host : ""}${path} ${status === 0 ? "aborted" : status}`).pipe(
          Effect.annotateLogs("milliseconds", Math.round(took))
        )
      )
    })
  }
}
