import { type ClientResponse } from "#http/connection/client-response.ts"
import { type Route } from "#src/routing/Route.ts"
import { type Sessions } from "#src/routing/Sessions.ts"
import { type IncomingMessage } from "node:http"
import { clientOfSessionId, tagEndpoint, tagSessionId } from "./session-tag.ts"
import { type Watch } from "./watch.ts"

/** Counts the session that an exchange opens or ends, and names the machine, and the client, in the id that the client gets. */
export const sessionCounter = (sessions: Pick<Sessions, "opened" | "closed">) =>
(
  req: IncomingMessage,
  res: ClientResponse,
  { activeDeploymentId, mark }: Route,
  watch: Pick<Watch, "client">
) => {
  const had = req.headers["mcp-session-id"]
  const has = had !== undefined
  let isOpened = false
  return {
    name: (id: string) => {
      if (mark === null) return id
      if (!has && !isOpened && activeDeploymentId !== null) {
        isOpened = true
        sessions.opened(activeDeploymentId)
      }
      // Servers say it in later answers too, and clients then go on with that one: the name stays in it.
      return tagSessionId(id, mark, watch.client() ?? (typeof had === "string" ? clientOfSessionId(had) : undefined))
    },
    /** The address for messages of the older transport. */
    endpoint: (address: string, clientHost: string) => mark === null ? address : tagEndpoint(address, mark, clientHost),
    ended: () => {
      const isDone = res.headersSent && res.statusCode >= 200 && res.statusCode < 300
      if (has && req.method === "DELETE" && isDone && activeDeploymentId !== null) sessions.closed(activeDeploymentId)
    }
  }
}
