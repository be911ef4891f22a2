import { type ClientResponse } from "#http/connection/client-response.ts"
import { rewriteEndpoint } from "#src/routing/addressing.ts"
import { type Route } from "#src/routing/Route.ts"
import { type Routes } from "#src/routing/Routes.ts"
import { type ServerUse } from "#src/routing/ServerUse.ts"
import { type RequestMetering } from "#src/usage/RequestMetering.ts"
import { type IncomingMessage } from "node:http"
import { type Answer } from "./answer.ts"
import { endpointRewriter } from "./endpoint-event.ts"
import { type Exchange } from "./exchange.ts"
import { forward } from "./forward.ts"
import { type RequestsInFlight } from "./in-flight.ts"
import { keepStream } from "./kept-streams.ts"
import { unreachable } from "./refusals.ts"
import { type relocator } from "./relocate.ts"
import { type sessionCounter } from "./sessions.ts"
import { type tallier, type Tally } from "./tally.ts"
import { type Way } from "./way.ts"

export interface PassageServices {
  readonly tally: ReturnType<typeof tallier>
  readonly countSessions: ReturnType<typeof sessionCounter>
  readonly relocation: ReturnType<typeof relocator>
  readonly use: Pick<ServerUse, "begin">
  readonly routes: Pick<Routes, "expire" | "find" | "onChange" | "peek">
  readonly metering: Pick<RequestMetering, "addBytes">
  readonly inFlight: RequestsInFlight
  readonly respond: (req: IncomingMessage, res: ClientResponse, reply: Answer, letIn?: Route) => void
  readonly logMachine: (message: string, error: unknown) => void
  readonly tellOwner: (route: Route, error: Error) => void
}

interface Request {
  readonly req: IncomingMessage
  readonly res: ClientResponse
  readonly awaitsContinue: boolean
  readonly body: Buffer | undefined
  readonly isGuest: boolean
}

/** A request that was let in, on its way: counted at both ends, whatever becomes of it. */
class Passage implements Exchange {
  readonly way: Way
  readonly req: IncomingMessage
  readonly res: ClientResponse
  readonly awaitsContinue: boolean
  readonly body: Buffer | undefined
  readonly isGuest: boolean
  readonly #services: PassageServices
  readonly #tally: Tally
  readonly #use: ReturnType<ServerUse["begin"]>
  readonly #entry: ReturnType<RequestsInFlight["begin"]>
  #sessionsOf: ReturnType<PassageServices["countSessions"]> | undefined
  #relocationOf: ReturnType<PassageServices["relocation"]> | undefined

  constructor(services: PassageServices, way: Way, { awaitsContinue, body, isGuest, req, res }: Request) {
    this.#services = services
    this.way = way
    this.req = req
    this.res = res
    this.awaitsContinue = awaitsContinue
    this.body = body
    this.isGuest = isGuest
    this.#tally = services.tally(way.route, req, res)
    this.#use = services.use.begin(way.route)
    this.#entry = services.inFlight.begin(forward(this))
  }

  get watch() {
    return this.#tally.watch
  }

  get rewriter() {
    if (!this.way.rewrites) return undefined
    const { addressing } = this.way
    return () =>
      endpointRewriter((data) => this.#sessions.endpoint(rewriteEndpoint(addressing, data), addressing.clientHost))
  }

  isClosing() {
    return this.#services.inFlight.isDraining()
  }

  isAlone() {
    return this.#services.inFlight.isAlone()
  }

  nameSession(id: string) {
    return this.#sessions.name(id)
  }

  listens() {
    this.#use.listens()
  }

  said() {
    this.#use.said()
  }

  keep(end: () => void) {
    keepStream(this.#services.routes, this.way.route, this.res, end)
  }

  onRefused(refusal: Answer) {
    const { req, res, way: { route } } = this
    this.#services.respond(req, res, refusal, route)
  }

  onBytes(count: number) {
    this.#services.metering.addBytes(this.way.route.accountId, count)
  }

  relocate(read: ReadonlyArray<Buffer>) {
    return this.#relocation.relocate(read)
  }

  onFailure(error: Error, sent: boolean) {
    const { inFlight, logMachine, respond, routes, tellOwner } = this.#services
    const { req, res, way: { route } } = this
    routes.expire(route.slug)
    const known = this.#relocationOf?.instead()
    if (known !== undefined) return respond(req, res, known, route)
    logMachine(`The machine of ${route.slug} did not answer`, error)
    if (sent) tellOwner(route, error)
    respond(req, res, unreachable(error, sent, inFlight.isDraining()), route)
  }

  onEnd() {
    const { req, res, way: { route } } = this
    if (req.method === "DELETE") this.#sessions.ended()
    this.#tally.end()
    // In byoa mode the machine says whom it lets in: others keep no server awake.
    this.#use.end(route.authMode !== "byoa" || res.statusCode !== 401)
    this.#services.inFlight.end(this.#entry)
  }

  get #sessions() {
    return this.#sessionsOf ??= this.#services.countSessions(this.req, this.res, this.way.route, this.watch)
  }

  get #relocation() {
    const { req, res, way: { machine, route, sentPath } } = this
    return this.#relocationOf ??= this.#services.relocation({ route, machine, req, res, path: sentPath })
  }
}

/** Sends requests that were let in to their machines. */
export const passer = (services: PassageServices) => (way: Way, request: Request) =>
  void new Passage(services, way, request)
