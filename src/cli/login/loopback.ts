import { exitCodes } from "#src/cli/exit-codes.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { Deferred, Effect } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import { type AddressInfo } from "node:net"
import { refusal } from "./authorization-server.ts"
import { answerWith, type LoopbackPage } from "./loopback-page.ts"

const path = "/callback"

/** As it is registered: the port is chosen when a login begins (RFC 8252 §7.3). */
export const registeredRedirect = `http://127.0.0.1${path}`

const patience = "10 minutes"

export interface Answer {
  readonly parameters: URLSearchParams
  /** What the browser shows. */
  readonly show: (page: LoopbackPage) => void
}

const states = (url: URL) => url.searchParams.getAll("state")

/**
 * Listens on a free port of this machine for the browser to come back (RFC 8252 §7.3). Any page can send a browser here, so
 * what has another `state`, or came by another name than the address, is answered and changes nothing.
 */
export const listen = (state: string) =>
  Effect.gen(function*() {
    const arrived = yield* Deferred.make<Answer>()
    let origin = ""
    const isAnswer = ({ headers, method }: IncomingMessage, url: URL) =>
      method === "GET" && headers.host === new URL(origin).host && states(url).length === 1 && states(url)[0] === state
    const server = yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>, ReturnType<typeof refusal>>((resume) => {
        const listener = createServer((request, response) => {
          const url = parseUrl(origin + (request.url ?? ""))
          if (url?.pathname !== path) return answerWith(response, "nothing")
          if (!isAnswer(request, url)) return answerWith(response, "stray")
          const show = (page: LoopbackPage) => answerWith(response, page)
          const isFirst = Effect.runSync(Deferred.succeed(arrived, { parameters: url.searchParams, show }))
          if (!isFirst) show("stray")
        })
        listener.once("error", (error) => resume(refusal(`This machine has no port to listen on: ${error.message}`)))
        listener.listen(0, "127.0.0.1", () => resume(Effect.succeed(listener)))
      }),
      (listener) =>
        Effect.sync(() => {
          listener.close()
          listener.closeIdleConnections()
        })
    )
    const { port } = server.address() as AddressInfo
    origin = `http://127.0.0.1:${port}`
    const answer = Deferred.await(arrived).pipe(
      Effect.timeoutFail({
        duration: patience,
        onTimeout: () => refusal(`Nobody allowed it in a browser within ${patience}`, exitCodes.notLetIn)
      })
    )
    return { port, redirectUri: origin + path, answer }
  })
