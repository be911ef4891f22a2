import { InsufficientScope } from "#src/oauth/scopes/InsufficientScope.ts"
import { type Route } from "#src/routing/Route.ts"
import { type Target } from "#src/servers/locate.ts"
import { type IncomingMessage } from "node:http"
import { type Answer, failure } from "./answer.ts"
import { brokenAnswer } from "./broken-answer.ts"
import { type Verdict as Permission } from "./permit.ts"
import { resourceAt } from "./resource-metadata.ts"
import { silentMillis } from "./upload.ts"

export const metadataAnswer = (req: IncomingMessage, document: unknown): Answer =>
  req.method === "GET" || req.method === "HEAD"
    ? { status: 200, body: document }
    : failure(405, "METHOD_NOT_ALLOWED", "The document can only be read", { Allow: "GET, HEAD, OPTIONS" })

export const noSuchServer = failure(404, "NOT_FOUND", "There is no such server")

export const noWebSocket = failure(
  501,
  "NOT_IMPLEMENTED",
  "WebSocket is not supported; use Streamable HTTP or SSE",
  { Connection: "close" }
)

export const unroutable = failure(
  503,
  "SERVICE_UNAVAILABLE",
  "The gateway can't look the server up right now; try again shortly",
  { "Retry-After": "5" }
)

const noSuchDocument = failure(
  404,
  "NOT_FOUND",
  "This address has no OAuth document: a hosted server has /.well-known/oauth-protected-resource alone, which names its " +
    "authorization server; ask that one for the others"
)

/** No server has the address, or no document is at it. */
export const notThere = (kind: Target["kind"]) => kind === "metadata" ? noSuchDocument : noSuchServer

export const restarting = (headers: Readonly<Record<string, string>> = {}) =>
  failure(503, "SERVICE_UNAVAILABLE", "The gateway is restarting", { "Retry-After": "1", ...headers })

export const notRunning = ({ activeDeploymentId, status }: Pick<Route, "activeDeploymentId" | "status">) => {
  // Its machine is tried again every ten minutes.
  if (activeDeploymentId !== null && status === "error") {
    const failed = "The server has failed; its owner finds why in its log"
    return failure(503, "SERVICE_UNAVAILABLE", failed, { "Retry-After": "60" })
  }
  const message = activeDeploymentId === null
    ? "Nothing is deployed on this server yet"
    : status === "stopped"
    ? "The server is stopped; its owner can start it"
    : status === "provisioning"
    ? "The server is being brought back; try again shortly"
    : "The server is not running; try again shortly"
  // Where only its owner can help, trying again does not.
  const mayHelp = activeDeploymentId !== null && status !== "stopped"
  return failure(503, "SERVICE_UNAVAILABLE", message, mayHelp ? { "Retry-After": "5" } : {})
}

export const bodyStopped: Answer = {
  ...failure(
    408,
    "REQUEST_TIMEOUT",
    `Nothing of the request's body came for ${silentMillis / 1000} seconds: send the request again`,
    { Connection: "close" }
  ),
  isHasty: true
}

const connectionLost =
  "The server ended the connection without an answer; it may have restarted while the call was running"

/** The machine gave no answer, or none that can be passed on; `sent`: it may have executed the request. */
export const unreachable = (error: Error, sent: boolean, isDraining: boolean) => {
  const message = sent ? brokenAnswer(error) ?? connectionLost : "The server can't be reached; try again shortly"
  return failure(502, "BAD_GATEWAY", message, isDraining ? { Connection: "close" } : {})
}

export const rejection = (permission: Exclude<Permission, { _tag: "Permitted" }>, route: Route, target: Target) => {
  if (permission._tag === "Rejected") return failure(permission.status, "BAD_REQUEST", permission.reason)
  const refusal = new InsufficientScope({ scopes: permission.scopes })
  return failure(403, "FORBIDDEN", refusal.message, {
    "WWW-Authenticate": refusal.challenge(resourceAt(route, target))
  })
}
