import { machineBehind } from "#http/callers/machine-caller.ts"
import { connectionsOf, type IdleLimit } from "#http/connection/connections.ts"
import { PatientResponse } from "#http/connection/linger.ts"
import { type Gateway } from "#http/gateway/Gateway.ts"
import { type Settings } from "#src/config/Settings.ts"
import { shares, Shutdown } from "#src/shared/Shutdown.ts"
import { Data, Effect } from "effect"
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import { answerMalformed } from "./malformed.ts"
import { ownTarget } from "./target.ts"

/** The address can't be listened on; the message names it and what to do. */
export class ListenError extends Data.TaggedError("ListenError")<{ readonly message: string }> {}

const isLoopback = (address: string) => /^(::ffff:)?127\.|^::1$/i.test(address)

const reasonOf = ({ code, message }: NodeJS.ErrnoException) => {
  if (code === "EADDRINUSE") return "something listens there already; set PORT to another"
  if (code === "EACCES") return "this user may not listen on that port; set PORT to another, from 1024 on"
  return code === "ENOTFOUND" || code === "EADDRNOTAVAIL" ? "HOST is not an address of this machine" : message
}

const start = (server: Server, address: { readonly host: string; readonly port: number }) =>
  Effect.async<void, ListenError>((resume) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const message = `Can't listen on ${address.host} port ${address.port}: ${reasonOf(error)}`
      resume(new ListenError({ message }))
    })
    server.listen({ host: address.host, port: address.port }, () => resume(Effect.void))
  })

/**
 * Takes no more connections, ends event streams (they are idle by nature, and their clients come back), lets requests
 * under way end, and cuts what has not ended in time.
 */
const stop = (server: Server, { thin }: ReturnType<typeof connectionsOf>, { remaining, within }: Shutdown) =>
  Effect.gen(function*() {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    const count = thin()
    if (count > 0) {
      const requests = count === 1 ? "one request" : `${count} requests`
      const left = Math.ceil((yield* remaining(shares.requests)) / 1000)
      yield* Effect.log(`Stopping: waiting for ${requests} under way, ${left} seconds at most`)
    }
    // A stream may open yet, and a connection is idle once its request has ended.
    const again = setInterval(thin, 50)
    const inTime = yield* within(shares.requests, Effect.promise(() => closed))
    if (!inTime) server.closeAllConnections()
    yield* Effect.promise(() => closed)
    clearInterval(again)
  })

/**
 * How many connections an address may hold without using them. A proxy in front holds its own, and limits those of its
 * clients; so do programs on this machine, the relay of hosted servers among them.
 */
const idleLimit = ({ trustProxy }: Settings): IdleLimit => ({
  most: 100,
  counts: (address) => trustProxy === 0 && !isLoopback(address),
  spared: 1_000
})

/** Dispatches each request, and listens until the scope closes. */
export const listen = (
  settings: Settings,
  gateway: Gateway,
  ours: RequestListener
) =>
  Effect.gen(function*() {
    const shutdown = yield* Shutdown
    // A head that is not there after 15 seconds is answered 408; Node looks every 30 unless it is told to.
    const server = createServer({
      requireHostHeader: false,
      ServerResponse: PatientResponse,
      headersTimeout: 15_000,
      connectionsCheckingInterval: 1_000,
      // Deployments answer when their pipeline ended: no limit on the whole exchange.
      requestTimeout: 0,
      keepAliveTimeout: 65_000
    })
    const connections = connectionsOf(server, idleLimit(settings))
    const targetOf = ownTarget(settings)
    const dispatch =
      (awaitsContinue: boolean): RequestListener<typeof IncomingMessage, typeof PatientResponse> => (req, res) => {
        // A machine has no business at other hosted servers.
        const match = machineBehind(req, settings.trustProxy) === undefined ? gateway.match(req) : undefined
        connections.begin(req, res, match !== undefined)
        if (awaitsContinue) res.awaitContinue()
        if (match !== undefined) return gateway.handle(match, req, res, awaitsContinue)
        if (awaitsContinue) res.writeContinue()
        req.url = targetOf(req.url ?? "/")
        ours(req, res)
      }
    answerMalformed(server)
    server.on("request", dispatch(false)).on("checkContinue", dispatch(true))
    // Another expectation than 100-continue, which nobody here meets (http/front/expectations.ts).
    server.on("checkExpectation", (req, res) => {
      connections.begin(req, res, false)
      ours(req, res)
    })
    yield* Effect.acquireRelease(
      start(server, settings),
      () =>
        Effect.zip(
          stop(server, connections, shutdown),
          // Callers of the gateway are told before their connections are cut.
          Effect.zipRight(shutdown.within(shares.calls, gateway.drain(Infinity)), gateway.drain(0)),
          { concurrent: true }
        )
    )
  })
