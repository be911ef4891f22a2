import { makeByHubKey } from "#http/callers/hub-key.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { ServerCards } from "#src/directory/ServerCards.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { plans } from "#src/plans/Plan.ts"
import { addressingOf, rewriteEndpoint } from "#src/routing/addressing.ts"
import { type Route } from "#src/routing/Route.ts"
import { Routes } from "#src/routing/Routes.ts"
import { type Target } from "#src/servers/locate.ts"
import { messageOf } from "#src/shared/message-of.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { Effect, Option, Runtime } from "effect"
import { type IncomingMessage, type ServerResponse } from "node:http"
import { type Answer, answer, failure } from "./answer.ts"
import { authorizer } from "./authorize.ts"
import { cors, isPreflight } from "./cors.ts"
import { endpointRewriter } from "./endpoint-event.ts"
import { forward } from "./forward.ts"
import { framingProblem, wantsWebSocket } from "./framing.ts"
import { requestHeaders } from "./headers.ts"
import { answerLimit, monthlyLimitReached } from "./limits.ts"
import { type Match, matcher } from "./match.ts"
import { observer } from "./observe.ts"
import { needsInspection, permitter, type Verdict as Permission } from "./permit.ts"
import { challenge, resourceMetadata, scopeChallenge } from "./resource-metadata.ts"
import { asksForCard, cardReader } from "./server-card.ts"
import { makeToolMarks } from "./tool-marks.ts"

export interface Gateway {
  /** Matches a request that the gateway must answer, else undefined. Cheap: called for every request. */
  readonly match: (req: IncomingMessage) => Match | undefined
  /**
   * Answers a matched request. A `checkContinue` listener passes `awaitsContinue`: the client gets `100 Continue` once
   * the request is admitted.
   */
  readonly handle: (match: Match, req: IncomingMessage, res: ServerResponse, awaitsContinue?: boolean) => void
  /** Accepts no more requests, waits for those in flight, and after that many milliseconds ends the rest. */
  readonly drain: (milliseconds: number) => Effect.Effect<void>
}

const metadataAnswer = (req: IncomingMessage, document: unknown): Answer =>
  req.method === "GET" || req.method === "HEAD"
    ? { status: 200, body: document }
    : failure(405, "METHOD_NOT_ALLOWED", "The document can only be read", { Allow: "GET, HEAD, OPTIONS" })

const noSuchServer = failure(404, "NOT_FOUND", "There is no such server")

const notRunning = ({ activeDeploymentId, status }: Route) => {
  const message = activeDeploymentId === null
    ? "Nothing is deployed on this server yet"
    : status === "stopped"
    ? "The server is stopped; its owner can start it"
    : status === "provisioning"
    ? "The server is being brought back; try again shortly"
    : "The server is not running; try again shortly"
  return failure(503, "SERVICE_UNAVAILABLE", message, { "Retry-After": "5" })
}

const connectionLost =
  "The server ended the connection without an answer; it may have restarted while the call was running"

const rejection = (permission: Exclude<Permission, { _tag: "Permitted" }>, route: Route, target: Target) => {
  if (permission._tag === "Rejected") return failure(permission.status, "BAD_REQUEST", permission.reason)
  const { scopes } = permission
  const message = `The access token's scopes do not allow this; it takes ${scopes}`
  return failure(403, "FORBIDDEN", message, { "WWW-Authenticate": scopeChallenge(route, target, scopes) })
}

/**
 * The data path to hosted servers: plain Node streams, since every byte of every server passes here. Services make its
 * decisions; a request whose route and token are cached waits for none of them.
 */
export const makeGateway = Effect.gen(function*() {
  const settings = yield* CurrentSettings
  const routes = yield* Routes
  const metering = yield* RequestMetering
  const readCard = cardReader(yield* ServerCards, yield* makeByHubKey)
  const runtime = yield* Effect.runtime()
  const limited = answerLimit(settings, yield* RateLimit)
  const authorize = authorizer(yield* AccessTokens, runtime)
  const { host, pathname, protocol } = new URL(settings.baseUrl)
  const { trustProxy } = settings
  const from = { trustProxy, scheme: protocol.slice(0, -1), host }
  const base = pathname.replace(/\/$/, "")
  const observe = observer(settings, runtime)
  const log = (message: string, error: unknown) => Runtime.runFork(runtime)(Effect.logWarning(message, error))
  // Truncated, so that a machine's output, such as a parser's raw bytes, does not fill the log.
  const logMachine = (message: string, error: unknown) =>
    Runtime.runFork(runtime)(Effect.logWarning(`${message}: ${messageOf(error).slice(0, 200)}`))

  const respond = (req: IncomingMessage, res: ServerResponse, reply: Answer, letIn?: Route) =>
    void Runtime.runPromise(runtime)(limited(req, reply, letIn)).then((counted) => answer(req, res, counted)).catch(
      (error) => {
        log("A request could not be answered", error)
        res.destroy()
      }
    )

  const inFlight = new Set<() => void>()
  let draining = false
  let onIdle = () => {}

  const permit = permitter(
    makeToolMarks({ onFailure: (error) => logMachine("A machine did not tell its tools", error) })
  )

  const pass = (
    route: Route,
    machine: MachineAddress,
    target: Target,
    req: IncomingMessage,
    res: ServerResponse,
    awaitsContinue: boolean,
    body?: Buffer
  ) => {
    const addressing = addressingOf(req, from, route.host, target.form === "path" ? `${base}/s/${route.slug}` : "")
    // A stream of the legacy transport begins with an address, which must be rewritten to the client's URL.
    const rewrites = req.method === "GET"
    const readable = rewrites && /text\/event-stream/i.test(req.headers.accept ?? "")
    let cut = () => {}
    cut = forward({
      req,
      res,
      path: target.path,
      headers: requestHeaders(req, { addressing, trustProxy, readable, replayToken: route.replayToken }),
      addressing,
      machine,
      body,
      awaitsContinue,
      rewriter: rewrites ? () => endpointRewriter((data) => rewriteEndpoint(addressing, data)) : undefined,
      closing: () => draining,
      onBytes: (count) => metering.addBytes(route.accountId, count),
      relocate: async () => {
        routes.expire(route.slug)
        const now = (await routes.find(route.slug).catch(() => undefined))?.machine
        return JSON.stringify(now) === JSON.stringify(machine) ? undefined : now
      },
      onFailure: (error, sent) => {
        logMachine(`The machine of ${route.slug} did not answer`, error)
        routes.expire(route.slug)
        const message = sent ? connectionLost : "The server can't be reached; try again shortly"
        respond(req, res, failure(502, "BAD_GATEWAY", message, draining ? { Connection: "close" } : {}), route)
      },
      onEnd: () => {
        inFlight.delete(cut)
        if (inFlight.size === 0) onIdle()
      }
    })
    inFlight.add(cut)
  }

  /** Passes a request on, as one of the month's. */
  const proxy = async (
    route: Route,
    target: Target,
    req: IncomingMessage,
    res: ServerResponse,
    awaitsContinue: boolean,
    body?: Buffer
  ) => {
    const { accountId, machine, plan } = route
    if (res.destroyed) return
    if (machine === undefined) return respond(req, res, notRunning(route), route)
    const pending = metering.admit(accountId, plans[plan].requestsPerMonth)
    const admission = pending instanceof Promise ? await pending : pending
    if (admission._tag === "Refused") {
      return respond(req, res, monthlyLimitReached(plan, admission.used, admission.resetsAt), route)
    }
    if (res.destroyed) return metering.takeBack(accountId)
    pass(route, machine, target, req, res, awaitsContinue, body)
  }

  const serve = async (target: Target, req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean) => {
    const problem = framingProblem(req)
    if (problem !== undefined) return respond(req, res, failure(400, "BAD_REQUEST", problem, { Connection: "close" }))
    if (isPreflight(req)) return respond(req, res, { status: 204, headers: cors.preflight })
    if (draining) {
      return answer(
        req,
        res,
        failure(503, "SERVICE_UNAVAILABLE", "The gateway is restarting", {
          Connection: "close",
          "Retry-After": "1"
        })
      )
    }
    const { kind, slug } = target
    const route = slug === undefined ? undefined : routes.peek(slug) ?? await routes.find(slug)
    if (route === undefined) return respond(req, res, noSuchServer)
    if (kind === "metadata") return respond(req, res, metadataAnswer(req, resourceMetadata(settings, route, target)))
    if (asksForCard(req, target)) {
      const card = await Runtime.runPromise(runtime)(readCard(req, route.slug))
      if (Option.isSome(card)) return respond(req, res, card.value)
    }

    const pending = authorize(req, route)
    const verdict = pending instanceof Promise ? await pending : pending
    if (verdict._tag === "Rejected") {
      const { error, message } = verdict
      const headers = { "WWW-Authenticate": challenge(route, target, error) }
      return respond(req, res, failure(401, "UNAUTHORIZED", message, headers))
    }
    if (wantsWebSocket(req)) {
      const message = "WebSocket is not supported; use Streamable HTTP or SSE"
      return respond(req, res, failure(501, "NOT_IMPLEMENTED", message, { Connection: "close" }))
    }

    if (res.destroyed) return
    if (!needsInspection(verdict.claims)) return proxy(route, target, req, res, awaitsContinue)
    if (awaitsContinue) res.writeContinue()
    const permission = await permit(req, target.path, route, verdict.claims)
    if (permission._tag === "Permitted") return proxy(route, target, req, res, false, permission.body)
    return respond(req, res, rejection(permission, route, target))
  }

  const handle: Gateway["handle"] = (match, req, res, awaitsContinue = false) => {
    if (match._tag === "Ambiguous") {
      return respond(req, res, failure(400, "BAD_REQUEST", match.reason, { Connection: "close" }))
    }
    observe(req, res, match.target.form)
    serve(match.target, req, res, awaitsContinue).catch((error: unknown) => {
      log("A request could not be routed", error)
      const message = "The gateway can't look the server up right now; try again shortly"
      respond(req, res, failure(503, "SERVICE_UNAVAILABLE", message, { "Retry-After": "5" }))
    })
  }

  const drain = (milliseconds: number) =>
    Effect.async<void>((resume) => {
      draining = true
      onIdle = () => resume(Effect.void)
      if (inFlight.size === 0) onIdle()
    }).pipe(
      // It runs while a scope closes, which is uninterruptible by default.
      Effect.interruptible,
      Effect.timeoutOption(milliseconds),
      Effect.zipRight(Effect.sync(() => {
        for (const cut of [...inFlight]) cut()
      }))
    )

  return { match: matcher(settings), handle, drain } satisfies Gateway
})

/** The gateway of this process, for the listener and for composites. */
export class HostedGateway extends Effect.Service<HostedGateway>()("http/Gateway", { effect: makeGateway }) {}
