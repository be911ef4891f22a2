import { CurrentSettings } from "#src/config/Settings.ts"
import { Context, Data, Effect, type Scope } from "effect"
import { promises as dns } from "node:dns"
import * as http from "node:http"
import * as https from "node:https"
import { isIP, type LookupFunction } from "node:net"
import { pipeline, type Readable, Transform } from "node:stream"
import { isException, isPublicAddress } from "./private-addresses.ts"

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** How host names become addresses: the system's resolver, unless a test says otherwise. */
export class HostLookup extends Context.Reference<HostLookup>()("shared/HostLookup", {
  defaultValue: () => (host: string): Promise<ReadonlyArray<ResolvedAddress>> => dns.lookup(host, { all: true })
}) {}

/**
 * `refused`: the guard does not connect there; `unreachable`: no response, or a broken one; `timeout`; `too_large`:
 * more bytes than the caller allows. The message names the host and never an address, which could reveal a private
 * network.
 */
export class GuardedHttpError extends Data.TaggedError("GuardedHttpError")<{
  readonly reason: "refused" | "unreachable" | "timeout" | "too_large"
  readonly message: string
}> {}

/** A body that is sent as it is read; opened again where the request is sent again. */
export interface StreamedBody {
  readonly size: number
  readonly open: () => Readable
}

export interface GuardedRequest {
  readonly url: string
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | StreamedBody
  /** Limit of the body in bytes; default 1 MiB. */
  readonly maxBytes?: number
  /** Limit for look-up, connection, headers and body together; default 10,000 ms. */
  readonly totalMs?: number
  /** Longest silence on the connection; default 10,000 ms. */
  readonly idleMs?: number
}

export interface GuardedResponse<Body> {
  readonly status: number
  readonly headers: Readonly<http.IncomingHttpHeaders>
  readonly body: Body
}

interface Target {
  readonly url: URL
  readonly addresses: ReadonlyArray<ResolvedAddress>
}

const MiB = 1024 * 1024
const rejection = (message: string) => new GuardedHttpError({ reason: "refused", message })

const unreachable = (host: string, cause: unknown) =>
  cause instanceof GuardedHttpError ? cause : new GuardedHttpError({
    reason: "unreachable",
    message: `${host} could not be reached: ${
      cause instanceof Error && "code" in cause ? String(cause.code) : "the connection broke"
    }`
  })

/** Resolves to the checked addresses, so that the name cannot point elsewhere at the time of the connection. */
const pinned = (addresses: ReadonlyArray<ResolvedAddress>): LookupFunction => (_host, options, callback) => {
  const [first] = addresses
  if (options.all === true) callback(null, addresses.map(({ address, family }) => ({ address, family })))
  else if (first !== undefined) callback(null, first.address, first.family)
}

const limitBytes = (host: string, maxBytes: number) => {
  let received = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length
      if (received <= maxBytes) done(null, chunk)
      else done(new GuardedHttpError({ reason: "too_large", message: `${host} sent more than ${maxBytes} bytes` }))
    }
  })
}

const isStreamed = (body: GuardedRequest["body"]): body is StreamedBody => typeof body === "object" && "open" in body

/** A request in flight. Destroying it with an error makes its reader see that error. */
class Exchange {
  readonly #outgoing: http.ClientRequest
  readonly #timer: NodeJS.Timeout
  readonly #host: string
  readonly #maxBytes: number
  #body: Readable | undefined
  #failure: GuardedHttpError | undefined

  constructor(target: Target, request: GuardedRequest, totalMs: number) {
    this.#host = target.url.host
    this.#maxBytes = request.maxBytes ?? MiB
    const send = target.url.protocol === "https:" ? https.request : http.request
    this.#outgoing = send(target.url, {
      // A fresh agent: no shared connections, and no proxy from the environment (Node 24 gives the global agent one).
      agent: false,
      method: request.method ?? "GET",
      headers: {
        "accept-encoding": "identity",
        "user-agent": "berth",
        ...request.headers,
        ...isStreamed(request.body) ? { "content-length": String(request.body.size) } : {}
      },
      lookup: pinned(target.addresses)
    })
    const idleMs = request.idleMs ?? 10_000
    const timeoutError = (what: string) => new GuardedHttpError({ reason: "timeout", message: `${this.#host} ${what}` })
    this.#timer = setTimeout(() => this.destroy(timeoutError(`took longer than ${totalMs} ms`)), totalMs)
    this.#outgoing.setTimeout(idleMs, () => this.destroy(timeoutError(`was silent for ${idleMs} ms`)))
    this.#outgoing.on("error", () => {})
    this.#send(request.body)
  }

  #send(body: GuardedRequest["body"]) {
    if (!isStreamed(body)) return void this.#outgoing.end(body)
    // An answer may come before all is sent, such as a refusal. Whoever reads it sees what broke otherwise.
    pipeline(body.open(), this.#outgoing, () => {})
  }

  destroy(failure?: GuardedHttpError): void {
    this.#failure ??= failure
    clearTimeout(this.#timer)
    this.#body?.destroy(failure)
    this.#outgoing.destroy(failure)
  }

  readonly response = Effect.async<GuardedResponse<Readable>, GuardedHttpError>((resume) => {
    const fail = (cause: unknown) => resume(Effect.fail(this.#failure ?? unreachable(this.#host, cause)))
    this.#outgoing.once("error", fail)
    this.#outgoing.once("close", () => fail(undefined))
    this.#outgoing.once("response", (incoming) => resume(Effect.suspend(() => this.#receive(incoming))))
  })

  #receive(incoming: http.IncomingMessage): Effect.Effect<GuardedResponse<Readable>, GuardedHttpError> {
    const body = limitBytes(this.#host, this.#maxBytes)
    this.#body = body
    body.on("error", () => {})
    pipeline(incoming, body, () => clearTimeout(this.#timer))
    return Effect.succeed({ status: incoming.statusCode ?? 0, headers: incoming.headers, body })
  }
}

const collect = (host: string, body: Readable) =>
  Effect.tryPromise({
    try: async () => {
      const chunks: Array<Buffer> = []
      for await (const chunk of body) chunks.push(chunk)
      return Buffer.concat(chunks)
    },
    // A body that failed before it was read keeps the cause in `errored`.
    catch: (cause) => unreachable(host, body.errored ?? cause)
  })

/**
 * The only HTTP client for URLs from users. It resolves the host itself, rejects any address that is not public (except
 * `ALLOWED_PRIVATE_HOSTS`), connects to exactly the addresses that it checked, and never follows a redirect: `nextHop`
 * makes the next request and the caller sends it, so that each hop passes the same check.
 */
export class GuardedHttp extends Effect.Service<GuardedHttp>()("shared/GuardedHttp", {
  effect: Effect.flatMap(CurrentSettings, ({ allowedPrivateHosts }) => makeGuardedHttp(allowedPrivateHosts))
}) {}

export type HttpClient = Pick<GuardedHttp, "check" | "open" | "send" | "collect">

/** The same for addresses that the operator or the user of this machine names: these hosts may be private. */
export const makeGuardedHttp = (allowedPrivateHosts: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const lookup = yield* HostLookup

    const addressesOf = (url: URL) => {
      // Node never calls `lookup` for a literal, so a literal address is checked here.
      const literal = url.hostname.replace(/^\[|\]$/g, "")
      return isIP(literal) > 0
        ? Effect.succeed([{ address: literal, family: isIP(literal) }])
        : Effect.tryPromise({ try: () => lookup(url.hostname), catch: (cause) => unreachable(url.hostname, cause) })
    }

    const check = Effect.fn("GuardedHttp.check")(function*(text: string) {
      const url = yield* Effect.try({ try: () => new URL(text), catch: () => rejection("The address is not a URL") })
      const exempt = isException(url, allowedPrivateHosts)
      if (url.username !== "" || url.password !== "") {
        return yield* rejection(`The address of ${url.host} has a password`)
      }
      if (url.protocol !== "https:" && !(url.protocol === "http:" && exempt)) {
        return yield* rejection(`${url.host} is not addressed by https`)
      }
      const addresses = yield* addressesOf(url)
      if (addresses.length === 0) return yield* unreachable(url.hostname, undefined)
      if (!exempt && !addresses.every(({ address }) => isPublicAddress(address))) {
        return yield* rejection(
          `${url.hostname} is not on the public internet, so it is not connected to; where that is meant, the ` +
            "platform's operator lists it in ALLOWED_PRIVATE_HOSTS"
        )
      }
      return { url, addresses } satisfies Target
    })

    /** The response as soon as its headers have arrived. Closing the scope closes the connection. */
    const open = Effect.fn("GuardedHttp.open")(function*(request: GuardedRequest) {
      const totalMs = request.totalMs ?? 10_000
      const started = Date.now()
      const target = yield* check(request.url).pipe(Effect.timeoutFail({
        duration: totalMs,
        onTimeout: () => new GuardedHttpError({ reason: "timeout", message: `Looking up a host took ${totalMs} ms` })
      }))
      const remaining = Math.max(1, totalMs - (Date.now() - started))
      const exchange = yield* Effect.acquireRelease(
        Effect.try({
          try: () => new Exchange(target, request, remaining),
          catch: () => rejection(`A header for ${target.url.host} is malformed`)
        }),
        (exchange) => Effect.sync(() => exchange.destroy())
      )
      return yield* exchange.response
    }) satisfies (request: GuardedRequest) => Effect.Effect<GuardedResponse<Readable>, GuardedHttpError, Scope.Scope>

    /** The whole response, its body in memory (at most `maxBytes`). */
    const send = (request: GuardedRequest): Effect.Effect<GuardedResponse<Buffer>, GuardedHttpError> =>
      Effect.scoped(
        Effect.flatMap(
          open(request),
          (response) => Effect.map(collect(new URL(request.url).host, response.body), (body) => ({ ...response, body }))
        )
      )

    return { check, open, send, /** Reads the whole body of `open`. */ collect }
  })
