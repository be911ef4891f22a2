import { machineBehind } from "#http/callers/machine-caller.ts"
import { connectionsOf, type IdleLimit } from "#http/connection/connections.ts"
import { lastRequests } from "#http/connection/last-requests.ts"
import { LingeringResponse } from "#http/connection/linger.ts"
import { queuedResponses } from "#http/connection/queued-responses.ts"
import { repeatsOf } from "#http/connection/repeats.ts"
import { TakeableRequest } from "#http/connection/taken-body.ts"
import { type Gateway } from "#http/gateway/Gateway.ts"
import { type Settings } from "#src/config/Settings.ts"
import { shares, Shutdown } from "#src/shared/Shutdown.ts"
import { Data, Effect } from "effect"
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import { answerMalformed } from "./malformed.ts"
import { ownTarget } from "./target.ts"

/** Listening failed; the message names the address and what to do. */
export class ListenError extends Data.TaggedError("ListenError")<{ readonly message: string }> {}

const isLoopback = (address: string) => /^(::ffff:)?127\.|^::1$/i.test(address)

/** The settings that say where. */
type Names = readonly [host: string, port: string]

const reasonOf = ({ code, message }: NodeJS.ErrnoException, [host, port]: Names) => {
  if (code === "EADDRINUSE") return `something listens there already; set ${port} to another`
  if (code === "EACCES") return `this user may not listen on that port; set ${port} to another, from 1024 on`
  return code === "ENOTFOUND" || code === "EADDRNOTAVAIL" ? `${host} is not an address of this machine` : message
}

export const start = (
  server: Server,
  address: { readonly host: string; readonly port: number },
  names: Names = ["HOST", "PORT"]
) =>
  Effect.async<void, ListenError>((resume) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const message = `Can't listen on ${address.host} port ${address.port}: ${reasonOf(error, names)}`
      resume(new ListenError({ message }))
    })
    server.listen({ host: address.host, port: address.port }, () => resume(Effect.void))
  })

/**
 * Accepts no further connections, ends event streams (they never end by themselves, and their clients reconnect), waits
 * for requests in flight, and cuts those that do not end in time.
 */
const stop = (server: Server, { endIdle }: ReturnType<typeof connectionsOf>, { remaining, within }: Shutdown) =>
  Effect.gen(function*() {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    const count = endIdle()
    if (count > 0) {
      const requests = count === 1 ? "one request" : `${count} requests`
      const seconds = Math.ceil((yield* remaining(shares.requests)) / 1000)
      yield* Effect.log(`Stopping: waiting for ${requests} under way, ${seconds} seconds at most`)
    }
    // Streams may still open, and connections become idle when their requests end.
    const poll = setInterval(endIdle, 50)
    const inTime = yield* within(shares.requests, Effect.promise(() => closed))
    if (!inTime) server.closeAllConnections()
    yield* Effect.promise(() => closed)
    clearInterval(poll)
  })

/**
 * How many idle connections an address may hold. Not limited are a proxy in front, which limits its own clients, and
 * programs on this machine, such as the relay of hosted servers.
 */
const idleLimit = ({ trustProxy }: Settings): IdleLimit => ({
  max: 100,
  isLimited: (address) => trustProxy === 0 && !isLoopback(address),
  minIdleMillis: 1_000
})

/** Dispatches each request, and listens until the scope closes. The server is told for its address. */
export const listen = (
  settings: Settings,
  gateway: Gateway,
  platform: RequestListener
) =>
  Effect.gen(function*() {
    const shutdown = yield* Shutdown
    // Headers that are not complete after 15 seconds are answered 408; by default Node checks only every 30 seconds.
    const server = createServer({
      requireHostHeader: false,
      IncomingMessage: TakeableRequest,
      ServerResponse: LingeringResponse,
      headersTimeout: 15_000,
      connectionsCheckingInterval: 1_000,
      // No limit on the whole exchange: deployments answer when their pipeline has ended.
      requestTimeout: 0,
      keepAliveTimeout: 65_000
    })
    const connections = connectionsOf(server, idleLimit(settings))
    // A connection may be busy without Node's knowing; `endIdle` knows.
    server.closeIdleConnections = () => undefined
    const { holds, learn, serve } = gateway.repeats
    const repeats = repeatsOf(server, {
      learn,
      holds,
      serve: (known, req, res, body) => {
        connections.begin(req, res, true)
        serve(known, req, res, body)
      }
    })
    const endWithConnection = queuedResponses()
    const { endWith, isBehindLast } = lastRequests()
    const targetOf = ownTarget(settings)
    /** Whether there is nothing left to do for a request that Node announces. */
    const isDone = (req: IncomingMessage, res: LingeringResponse) => {
      if (isBehindLast(req)) {
        req.resume()
        return true
      }
      endWithConnection(req, res)
      return repeats.begin(req, res)
    }
    const dispatch =
      (awaitsContinue: boolean): RequestListener<typeof TakeableRequest, typeof LingeringResponse> => (req, res) => {
        if (isDone(req, res)) return
        // Other than WebSocket it is an offer that is ignored (RFC 9110 §7.8). Node then loses what follows in the same
        // packet, and takes what comes after it for a request.
        if (req.headers.upgrade !== undefined) endWith(req, res)
        // Machines can't reach other hosted servers.
        const match = machineBehind(req, settings.trustProxy) === undefined ? gateway.match(req) : undefined
        connections.begin(req, res, match !== undefined)
        if (awaitsContinue) res.awaitContinue()
        if (match !== undefined) return gateway.handle(match, req, res, awaitsContinue)
        if (awaitsContinue) res.writeContinue()
        req.url = targetOf(req.url ?? "/")
        platform(req, res)
      }
    const begin = answerMalformed(server)
    server.on("checkContinue", begin).on("checkExpectation", begin)
    server.on("request", dispatch(false)).on("checkContinue", dispatch(true))
    // An expectation other than 100-continue, which is not supported (http/front/expectations.ts).
    server.on("checkExpectation", (req, res) => {
      if (isDone(req, res)) return
      connections.begin(req, res, false)
      platform(req, res)
    })
    yield* Effect.acquireRelease(
      start(server, settings),
      () =>
        Effect.zip(
          stop(server, connections, shutdown),
          // Callers of the gateway get a response before their connections are cut.
          Effect.zipRight(shutdown.within(shares.calls, gateway.drain(Infinity)), gateway.drain(0)),
          { concurrent: true }
        )
    )
    return server
  })
