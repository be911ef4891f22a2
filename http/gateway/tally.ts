import { type ClientResponse } from "#http/connection/client-response.ts"
import { isMarkedStream } from "#http/connection/connections.ts"
import { type Route } from "#src/routing/Route.ts"
import { type ServerRequests } from "#src/usage/ServerRequests.ts"
import { type ToolCalls } from "#src/usage/ToolCalls.ts"
import { type IncomingMessage } from "node:http"
import { type Watch, watcher } from "./watch.ts"

type Requests = Pick<ServerRequests, "count">

/**
 * Counts a request that is passed to a server from now on, and the calls in it; `end` tells that its answer has ended. A
 * stream that a GET opened ends when its client likes, and so does a request that its client gave up: neither is timed.
 */
export class Tally {
  readonly watch: Watch
  readonly #requests: Requests
  readonly #serverId: string
  readonly #req: IncomingMessage
  readonly #res: ClientResponse
  readonly #began = performance.now()

  constructor(requests: Requests, watch: Watch, serverId: string, req: IncomingMessage, res: ClientResponse) {
    this.#requests = requests
    this.watch = watch
    this.#serverId = serverId
    this.#req = req
    this.#res = res
  }

  end() {
    const { headersSent, statusCode } = this.#res
    const isTimed = headersSent && !(this.#req.method === "GET" && isMarkedStream(this.#res))
    const millis = isTimed ? performance.now() - this.#began : undefined
    this.#requests.count(this.#serverId, { isError: headersSent && statusCode >= 500, millis })
    this.watch.ended(millis)
  }
}

export const tallier = (requests: Requests, tools: Pick<ToolCalls, "count">) => {
  const watch = watcher(tools)
  return (route: Route, req: IncomingMessage, res: ClientResponse) =>
    new Tally(requests, watch(route, req, res), route.serverId, req, res)
}
