import { markMachine } from "#http/callers/machine-caller.ts"
import { type Settings } from "#src/config/Settings.ts"
import { createServer, type RequestListener } from "node:http"
import { answerMalformed } from "./malformed.ts"
import { ownTarget } from "./target.ts"

/** A hosted server sends few and small requests. */
const limits = { connections: 32, requestMillis: 30_000, headersMillis: 10_000, idleMillis: 15_000 }

/** No proxy is between a machine and us: headers of a proxy are forged. */
const forgedHeader = /^(x-forwarded-.*|forwarded|x-real-ip)$/

/** Makes the server of one machine: its requests are handled as all others, but marked as that machine's. */
export const machineServer = (settings: Settings, platform: RequestListener) => {
  const targetOf = ownTarget(settings)
  return (machine: string) => {
    const server = createServer({ requireHostHeader: false, connectionsCheckingInterval: 5_000 }, (req, res) => {
      markMachine(req, machine)
      for (const name of Object.keys(req.headers)) if (forgedHeader.test(name)) delete req.headers[name]
      req.url = targetOf(req.url ?? "/")
      platform(req, res)
    })
    answerMalformed(server)
    server.maxConnections = limits.connections
    server.headersTimeout = limits.headersMillis
    server.requestTimeout = limits.requestMillis
    server.keepAliveTimeout = limits.idleMillis
    return server
  }
}
