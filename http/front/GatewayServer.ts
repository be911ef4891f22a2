import { answer, failure } from "#http/gateway/answer.ts"
import { HostedGateway } from "#http/gateway/HostedGateway.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Health } from "#src/servers/Health.ts"
import { Effect, Layer, Runtime } from "effect"
import { type RequestListener } from "node:http"
import { listen } from "./listen.ts"

const isHealth = (url = "") => /^\/v1\/health(?:\?|$)/.test(url)

/** What is not for a hosted server: the health of this process, and where everything else is answered. */
const makeRest = Effect.gen(function*() {
  const { baseUrl } = yield* CurrentSettings
  const health = yield* Health
  const run = Runtime.runPromise(yield* Effect.runtime())
  // RFC 9110 §15.5.20.
  const elsewhere = failure(
    421,
    "MISDIRECTED_REQUEST",
    `This process answers for hosted servers alone; the platform is at ${baseUrl}`
  )
  const rest: RequestListener = (req, res) => {
    if (!isHealth(req.url) || req.method !== "GET" && req.method !== "HEAD") return answer(req, res, elsewhere)
    void run(health.report).then((body) => answer(req, res, { status: body.status === "ok" ? 200 : 503, body }))
  }
  return rest
})

/** The listener of a process that is a gateway and nothing else. */
export const GatewayHttpLive = Layer.scopedDiscard(Effect.gen(function*() {
  yield* listen(yield* CurrentSettings, yield* HostedGateway, yield* makeRest)
})).pipe(Layer.provide(HostedGateway.Default))
