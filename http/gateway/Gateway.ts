import { makeByHubKey } from "#http/callers/hub-key.ts"
import { type ClientResponse } from "#http/connection/client-response.ts"
import { Descriptors } from "#http/connection/Descriptors.ts"
import { type Repeats } from "#http/connection/repeats.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { ServerCards } from "#src/directory/ServerCards.ts"
import { type AccessTokenClaims, AccessTokens } from "#src/oauth/AccessTokens.ts"
import { publicSide } from "#src/routing/addressing.ts"
import { isOff, type Route } from "#src/routing/Route.ts"
import { Routes } from "#src/routing/Routes.ts"
import { ServerUse } from "#src/routing/ServerUse.ts"
import { Sessions } from "#src/routing/Sessions.ts"
import { Wakes } from "#src/routing/Wakes.ts"
import { BrokenAnswers } from "#src/servers/BrokenAnswers.ts"
import { type Target } from "#src/servers/locate.ts"
import { messageOf } from "#src/shared/message-of.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { GuestRequests } from "#src/usage/GuestRequests.ts"
import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { ServerRequests } from "#src/usage/ServerRequests.ts"
import { ToolCalls } from "#src/usage/ToolCalls.ts"
import { Effect, Option, Runtime } from "effect"
import { type IncomingMessage } from "node:http"
import { admission, isGuest } from "./admission.ts"
import { makeAffinity, sessionGoneFor } from "./affinity.ts"
import { answer, failure } from "./answer.ts"
import { authorizer } from "./authorize.ts"
import { ownerTeller } from "./broken-answer.ts"
import { cors, isPreflight } from "./cors.ts"
import { framingProblem, wantsWebSocket } from "./framing.ts"
import { makeInFlight } from "./in-flight.ts"
import { answerLimit, computeUsedUp } from "./limits.ts"
import { type Match, matcher, type TargetMatch } from "./match.ts"
import { observer } from "./observe.ts"
import { passer } from "./passage.ts"
import { needsInspection, permitter } from "./permit.ts"
import { metadataAnswer, notRunning, notThere, noWebSocket, rejection, restarting, unroutable } from "./refusals.ts"
import { relocator } from "./relocate.ts"
import { type Decided, rememberingHeads } from "./repeated-head.ts"
import { challenge, resourceMetadata } from "./resource-metadata.ts"
import { responder } from "./respond.ts"
import { makeRoom } from "./room.ts"
import { asksForCard, cardReader } from "./server-card.ts"
import { untagPath } from "./session-tag.ts"
import { sessionCounter } from "./sessions.ts"
import { tallier } from "./tally.ts"
import { makeToolMarks } from "./tool-marks.ts"
import { onwardTrace } from "./trace.ts"
import { isAway, waker } from "./wake.ts"
import { type Way, wayFinder } from "./way.ts"

export interface Gateway {
  /** Matches a request that the gateway must answer, else undefined. Cheap: called for every request. */
  readonly match: (req: IncomingMessage) => Match | undefined
  /**
   * Answers a matched request. A `checkContinue` listener passes `awaitsContinue`: the client gets `100 Continue` once
   * the request is admitted.
   */
  readonly handle: (match: Match, req: IncomingMessage, res: ClientResponse, awaitsContinue?: boolean) => void
  /** Requests whose heads were decided before. */
  readonly repeats: Repeats<Decided>
  /** Accepts no further requests, waits for those in flight, and after that many milliseconds ends the rest. */
  readonly drain: (milliseconds: number) => Effect.Effect<void>
}

/**
 * The data path to hosted servers: plain Node streams, since every byte of every server passes here. Services make its
 * decisions; a request whose route and token are cached waits for none of them.
 */
export const makeGateway = Effect.gen(function*() {
  const settings = yield* CurrentSettings
  const routes = yield* Routes
  const metering = yield* RequestMetering
  const tally = tallier(yield* ServerRequests, yield* ToolCalls)
  const affinity = makeAffinity(routes)
  const countSessions = sessionCounter(yield* Sessions)
  const use = yield* ServerUse
  const wakes = yield* Wakes
  const limits = yield* RateLimit
  const readCard = cardReader(yield* ServerCards, yield* makeByHubKey)
  const runtime = yield* Effect.runtime()
  const tellOwner = ownerTeller(yield* BrokenAnswers, runtime)
  const { authorize, isStill } = authorizer(yield* AccessTokens, runtime)
  const side = publicSide(settings)
  const observe = observer(settings, runtime)
  const log = (message: string, error: unknown) => Runtime.runFork(runtime)(Effect.logWarning(message, error))
  // Truncated, so that a machine's output, such as a parser's raw bytes, does not fill the log.
  const logMachine = (message: string, error: unknown) =>
    Runtime.runFork(runtime)(Effect.logWarning(`${message}: ${messageOf(error).slice(0, 200)}`))

  const respond = responder(answerLimit(settings, limits), runtime, log)
  const heads = rememberingHeads(matcher(settings))
  const inFlight = makeInFlight()
  const room = makeRoom({ inFlight, descriptors: yield* Descriptors })
  const wake = waker({ wakes, limits, trustProxy: side.trustProxy, runtime, inFlight })
  const relocation = relocator({ affinity, metering, wake })
  const { admit, awaken } = admission({ affinity, guests: yield* GuestRequests, metering, respond, side, wake })

  const permit = permitter(
    makeToolMarks({ onFailure: (error) => logMachine("A machine did not tell its tools", error) })
  )

  const wayTo = wayFinder(side)
  const pass = passer({
    tally,
    countSessions,
    relocation,
    use,
    routes,
    metering,
    inFlight,
    respond,
    logMachine,
    tellOwner
  })

  /** Passes a request on, as one of the month's. `isCounted`: it is one already. */
  const proxy = (
    route: Route,
    target: Target,
    req: IncomingMessage,
    res: ClientResponse,
    { awaitsContinue = false, body, claims, isCounted = false, way }: {
      readonly awaitsContinue?: boolean
      readonly body?: Buffer | undefined
      readonly claims: AccessTokenClaims | undefined
      readonly isCounted?: boolean
      /** Known of the request before; to the machine of the route, unless another one is found first. */
      readonly way?: Way | undefined
    }
  ): void | Promise<void> => {
    const go = (to: Route) => {
      if (!res.destroyed && to.machine !== undefined && !isOff(to)) {
        const known = way?.route === to ? way : wayTo(to, to.machine, target, req)
        return pass(known, { req, res, awaitsContinue, body, isGuest: isGuest(route, claims) })
      }
      metering.takeBack(route.accountId)
      respond(req, res, notRunning(to), route)
    }
    // A server that fell asleep since its route was read must not be reached: its machine will be stopped.
    const reach = (latest: Route) =>
      isAway(latest) && latest.mark?.version === route.mark?.version
        ? awaken(latest, req, res, target.path).then((woken) => woken && go(woken))
        : go(route)
    const onceCounted = (isIn: boolean) => {
      if (!isIn) return
      const latest = routes.peek(route.slug)
      return latest === undefined ? routes.find(route.slug).then((found) => reach(found ?? route)) : reach(latest)
    }
    if (isCounted) return onceCounted(true)
    if (res.destroyed) return
    if (route.machine === undefined && !isAway(route)) return respond(req, res, notRunning(route), route)
    const counted = admit(route, claims, req, res)
    return counted instanceof Promise ? counted.then(onceCounted) : onceCounted(counted)
  }

  /** Whether what was decided of a head is so at this moment. */
  const holds = ({ claims, route, token }: Decided) =>
    !inFlight.isDraining() && routes.peek(route.slug) === route && isStill(token, route, claims)

  /** Passes a request on whose head was decided before, on the same connection. */
  const serveAgain = ({ claims, target, way }: Decided, req: IncomingMessage, res: ClientResponse, body?: Buffer) => {
    const refusal = room.enter(way.route, claims, res)
    if (refusal !== undefined) return respond(req, res, refusal, way.route)
    const going = proxy(way.route, target, req, res, { claims, way, body })
    if (going instanceof Promise) going.catch((error: unknown) => unrouted(req, res, error))
  }

  const serve = async (match: TargetMatch, req: IncomingMessage, res: ClientResponse, awaitsContinue: boolean) => {
    const { target } = match
    const problem = framingProblem(req)
    if (problem !== undefined) return respond(req, res, failure(400, "BAD_REQUEST", problem, { Connection: "close" }))
    if (isPreflight(req)) return respond(req, res, { status: 204, headers: cors.preflight })
    if (inFlight.isDraining()) return answer(req, res, restarting({ Connection: "close" }))
    const full = room.refusal()
    if (full !== undefined) return answer(req, res, full)
    const { kind, slug } = target
    const route = slug === undefined ? undefined : routes.peek(slug) ?? await routes.find(slug)
    if (route === undefined) return respond(req, res, notThere(kind))
    if (kind === "metadata") return respond(req, res, metadataAnswer(req, resourceMetadata(settings, route, target)))
    if (asksForCard(req, target)) {
      const card = await Runtime.runPromise(runtime)(readCard(req, route.slug))
      if (Option.isSome(card)) return respond(req, res, card.value)
    }

    const pending = authorize(req, route)
    const verdict = pending instanceof Promise ? await pending : pending
    if (verdict._tag === "Rejected") {
      const headers = { "WWW-Authenticate": challenge(route, target, verdict.error) }
      return respond(req, res, failure(401, "UNAUTHORIZED", verdict.message, headers))
    }
    if (wantsWebSocket(req)) return respond(req, res, noWebSocket)

    const refusal = computeUsedUp(route) ?? room.enter(route, verdict.claims, res)
    if (refusal !== undefined) return respond(req, res, refusal, route)
    const found = affinity.find(route, req, target.path)
    const to = found instanceof Promise ? await found : found
    if (to === undefined) return respond(req, res, await sessionGoneFor(req), route)

    if (res.destroyed) return
    const { claims } = verdict
    if (!needsInspection(claims)) {
      const head = awaitsContinue ? undefined : heads.repeated(req, match)
      const isKept = head !== undefined && to.machine !== undefined && onwardTrace(req) === undefined
      const way = isKept ? wayTo(to, to.machine, target, req) : undefined
      if (way !== undefined) head!.decided = { route, token: verdict.token, claims, target, way }
      return proxy(to, target, req, res, { awaitsContinue, claims, way })
    }
    // What a token allows depends on the tools, which only a server that is awake tells.
    const isCounted = isAway(to)
    if (isCounted && !(await admit(to, claims, req, res))) return
    const awake = isCounted ? await awaken(to, req, res, target.path) : to
    if (awake === undefined) return
    if (awaitsContinue) res.writeContinue()
    const permission = await permit(req, untagPath(target.path), awake, claims)
    if (permission._tag === "Permitted") {
      return proxy(awake, target, req, res, { body: permission.body, claims, isCounted })
    }
    if (isCounted) metering.takeBack(route.accountId)
    return respond(req, res, rejection(permission, route, target))
  }

  const unrouted = (req: IncomingMessage, res: ClientResponse, error: unknown) => {
    log("A request could not be routed", error)
    respond(req, res, unroutable)
  }

  const handle: Gateway["handle"] = (match, req, res, awaitsContinue = false) => {
    if (match._tag === "Ambiguous") {
      return respond(req, res, failure(400, "BAD_REQUEST", match.reason, { Connection: "close" }))
    }
    observe(req, res, match.target.form)
    const decided = awaitsContinue || onwardTrace(req) !== undefined ? undefined : heads.repeated(req, match)?.decided
    if (decided !== undefined && holds(decided)) return serveAgain(decided, req, res)
    serve(match, req, res, awaitsContinue).catch((error: unknown) => unrouted(req, res, error))
  }

  const repeats: Gateway["repeats"] = {
    learn: heads.decided,
    holds,
    serve: (decided, req, res, body) => {
      observe(req, res, decided.target.form)
      serveAgain(decided, req, res, body)
    }
  }

  return { match: heads.match, handle, repeats, drain: inFlight.drain } satisfies Gateway
})
