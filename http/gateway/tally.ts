import { isMarkedStream } from "#http/connection/connections.ts"
import { type Route } from "#src/routing/Route.ts"
import { type ServerRequests } from "#src/usage/ServerRequests.ts"
import { type ToolCalls } from "#src/usage/ToolCalls.ts"
import { type IncomingMessage, type ServerResponse } from "node:http"
import { watcher } from "./watch.ts"

/**
 * Counts a request that is passed to a server from now on, and the calls in it; `end` tells that its answer has ended. A
 * stream that a GET opened ends when its client likes, and so does a request that its client gave up: neither is timed.
 */
export const tallier = (requests: Pick<ServerRequests, "count">, tools: Pick<ToolCalls, "count">) => {
  const watch = watcher(tools)
  return (route: Route, req: IncomingMessage, res: ServerResponse) => {
    const began = performance.now()
    const watched = watch(route, req, res)
    return {
      watch: watched,
      end: () => {
        const isTimed = res.headersSent && !(req.method === "GET" && isMarkedStream(res))
        const millis = isTimed ? performance.now() - began : undefined
        requests.count(route.serverId, { isError: res.headersSent && res.statusCode >= 500, millis })
        watched.ended(millis)
      }
    }
  }
}
