import { cameFrom } from "#http/callers/machine-caller.ts"
import { type Settings } from "#src/config/Settings.ts"
import { createServer, type RequestListener } from "node:http"
import { answerMalformed } from "./malformed.ts"
import { ownTarget } from "./target.ts"

/** A hosted server asks a few things now and then; nothing takes long to send. */
const limits = { connections: 32, requestMillis: 30_000, headersMillis: 10_000, idleMillis: 15_000 }

/** Nobody stands between a machine and us: what it says of others in front of it is made up. */
const madeUp = /^(x-forwarded-.*|forwarded|x-real-ip)$/

/** Makes the server of one machine: its requests are answered as all are, and known as that machine's. */
export const machineServer = (settings: Settings, ours: RequestListener) => {
  const targetOf = ownTarget(settings)
  return (machine: string) => {
    const server = createServer({ requireHostHeader: false, connectionsCheckingInterval: 5_000 }, (req, res) => {
      cameFrom(req, machine)
      for (const name of Object.keys(req.headers)) if (madeUp.test(name)) delete req.headers[name]
      req.url = targetOf(req.url ?? "/")
      ours(req, res)
    })
    answerMalformed(server)
    server.maxConnections = limits.connections
    server.headersTimeout = limits.headersMillis
    server.requestTimeout = limits.requestMillis
    server.keepAliveTimeout = limits.idleMillis
    return server
  }
}
