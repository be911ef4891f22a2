import { Data, Effect } from "effect"
import { type RequestListener, type Server } from "node:http"
import { type Gateway } from "./gateway/Gateway.ts"
import { answerMalformed } from "./malformed.ts"

/** The address can't be listened on; the message names it and what to do. */
export class ListenError extends Data.TaggedError("ListenError")<{ readonly message: string }> {}

/** How long requests in flight may take once a stop was asked for. */
const drainMillis = 10_000

const start = (server: Server, address: { readonly host: string; readonly port: number }) =>
  Effect.async<void, ListenError>((resume) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "EADDRINUSE"
        ? "something listens there already; set PORT to another"
        : error.message
      resume(new ListenError({ message: `Can't listen on ${address.host} port ${address.port}: ${reason}` }))
    })
    server.listen(address, () => resume(Effect.void))
  })

/** Takes no more connections, lets what is in flight end, and cuts what has not ended in time (open streams). */
const stop = (server: Server) =>
  Effect.async<void>((resume) => {
    const cut = setTimeout(() => server.closeAllConnections(), drainMillis)
    server.close(() => {
      clearTimeout(cut)
      resume(Effect.void)
    })
    server.closeIdleConnections()
  })

/** Dispatches each request, and listens until the scope closes. */
export const listen = (
  server: Server,
  address: { readonly host: string; readonly port: number },
  gateway: Gateway,
  ours: RequestListener
) =>
  Effect.gen(function*() {
    const dispatch = (awaitsContinue: boolean): RequestListener => (req, res) => {
      const match = gateway.match(req)
      if (match !== undefined) return gateway.handle(match, req, res, awaitsContinue)
      if (awaitsContinue) res.writeContinue()
      ours(req, res)
    }
    answerMalformed(server)
    server.on("request", dispatch(false)).on("checkContinue", dispatch(true))
    // A slow sender of headers holds a socket, not a worker; a minute is plenty.
    server.headersTimeout = 60_000
    // Deployments answer when their pipeline ended: no limit on the whole exchange.
    server.requestTimeout = 0
    server.keepAliveTimeout = 65_000
    yield* Effect.acquireRelease(
      start(server, { host: address.host, port: address.port }),
      () => Effect.zip(stop(server), gateway.drain(drainMillis), { concurrent: true })
    )
  })
