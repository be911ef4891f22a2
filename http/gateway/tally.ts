import { isMarkedStream } from "#http/connection/connections.ts"
import { type Route } from "#src/routing/Route.ts"
import { type ServerRequests } from "#src/usage/ServerRequests.ts"
import { type IncomingMessage, type ServerResponse } from "node:http"

/**
 * Counts a request that is passed to a server from now on; the returned function tells that its answer has ended. A
 * stream that a GET opened ends when its client likes, and so does a request that its client gave up: neither is timed.
 */
export const tallier =
  (requests: Pick<ServerRequests, "count">) => ({ serverId }: Route, req: IncomingMessage, res: ServerResponse) => {
    const began = performance.now()
    return () => {
      const isTimed = res.headersSent && !(req.method === "GET" && isMarkedStream(res))
      requests.count(serverId, {
        isError: res.headersSent && res.statusCode >= 500,
        millis: isTimed ? performance.now() - began : undefined
      })
    }
  }
