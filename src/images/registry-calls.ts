import { type GuardedRequest, type GuardedResponse, type HttpClient } from "#src/shared/GuardedHttp.ts"
import { nextHop } from "#src/shared/redirect.ts"
import { Effect, Ref, Schema } from "effect"
import type { Readable } from "node:stream"
import { asksBasic, bearerChallenge, tokenUrl } from "./challenge.ts"
import { fromGuard, type ImageError, imageError } from "./ImageError.ts"
import type { Limits } from "./limits.ts"
import { basic, isConfidential, type Login } from "./login.ts"
import { decodeDocument } from "./manifest.ts"
import { type Said, wordsIn } from "./registry-refusal.ts"

const maxHops = 5

const decodeToken = decodeDocument(
  Schema.Struct({ token: Schema.optional(Schema.String), access_token: Schema.optional(Schema.String) }),
  "The registry's token answer"
)

/** `loopback`: whether passwords may go to this machine's own addresses over plain http, as in development. */
export interface Access {
  readonly http: HttpClient
  readonly limits: Limits
  readonly loopback: boolean
}

/** A repository of a registry, and what is done there. */
export interface Place {
  /** Root of the registry's API without `/v2/`: a scheme, a host, maybe a path. */
  readonly root: string
  /** The registry's host, for messages. */
  readonly registry: string
  readonly repository: string
  readonly actions: "pull" | "pull,push"
  readonly login?: Login | undefined
  /** The value of Authorization of each request, in place of one that the registry asks for. */
  readonly authorize?: Effect.Effect<string, ImageError> | undefined
  /** Why the registry lets nobody in, in words for who can change that; `said`: its own words, if any. */
  readonly refused: (what: string, said?: Said) => ImageError
}

/** An answer, and the origin that gave it after redirects. */
export interface Answer extends GuardedResponse<Readable> {
  readonly origin: string
}

/**
 * Requests to one repository (OCI distribution specification): anonymous, with a login, or with the token that the
 * registry requires. Credentials go to the registry and the realm that it names, never to hosts that it leads to.
 */
export const registryCalls = ({ http, limits, loopback }: Access, place: Place) =>
  Effect.gen(function*() {
    const { login, refused, registry, repository, root } = place
    const { origin } = new URL(root)
    /** The value of Authorization that the registry has asked for. */
    const authorization = yield* Ref.make<string | undefined>(undefined)
    const current = place.authorize ?? Ref.get(authorization)
    const mutex = yield* Effect.makeSemaphore(1)

    /** Follows redirects, each through the guard. */
    const exchange = Effect.fnUntraced(function*(first: GuardedRequest) {
      let request = first
      for (let hop = 0; hop <= maxHops; hop++) {
        const response = yield* Effect.mapError(http.open(request), fromGuard)
        const next = nextHop(request, response)
        if (next === undefined) return { ...response, origin: new URL(request.url).origin } satisfies Answer
        request = next
      }
      return yield* imageError("unreachable", `${registry} redirects more than ${maxHops} times`)
    })

    const readAll = (response: GuardedResponse<Readable>) =>
      Effect.mapError(http.collect(registry, response.body), fromGuard)

    /** The login for a URL that the registry named, unless others could read it on the way. */
    const loginFor = (login: Login, url: string) =>
      isConfidential(origin, loopback) && isConfidential(url, loopback)
        ? Effect.succeed(basic(login))
        : imageError("unauthorized", `${registry} asks for a password over plain http: it needs https`)

    const fetchToken = Effect.fnUntraced(function*(response: Answer, what: string) {
      const header = response.headers["www-authenticate"]
      const challenge = bearerChallenge(header)
      const asked = response.origin === origin ? login : undefined
      if (challenge === undefined && asked !== undefined && asksBasic(header)) {
        return yield* Ref.set(authorization, yield* loginFor(asked, origin))
      }
      const url = challenge && tokenUrl(challenge, `repository:${repository}:${place.actions}`)
      if (url === undefined) return yield* refused(what)
      const headers = asked === undefined ? {} : { authorization: yield* loginFor(asked, url) }
      const answer = yield* exchange({ url, headers, totalMs: limits.documentMs })
      if ([401, 403, 404].includes(answer.status)) return yield* refused(what)
      if (answer.status !== 200) {
        return yield* imageError("unreachable", `${registry} answered ${answer.status} for ${what}`)
      }
      const { access_token, token: value = access_token } = yield* decodeToken(yield* readAll(answer))
      // The token goes into a header, so only token68 (RFC 6750 §2.1) is accepted.
      if (value === undefined || !/^[A-Za-z0-9._~+/=-]{1,16384}$/.test(value)) {
        return yield* imageError("unauthorized", `${registry} gave no usable token for ${what}`)
      }
      yield* Ref.set(authorization, `Bearer ${value}`)
    }, Effect.scoped)

    /** When several requests find the token expired, the first fetches a new one and the others wait for it. */
    const refresh = (response: Answer, used: string | undefined, what: string) =>
      Effect.flatMap(Ref.get(authorization), (current) => current === used ? fetchToken(response, what) : Effect.void)
        .pipe(mutex.withPermits(1))

    /** An address that the registry gave for an upload may be at another host, as an object store's is. */
    const authorized = (request: GuardedRequest, value: string | undefined) =>
      exchange(
        value === undefined || new URL(request.url).origin !== origin
          ? request
          : { ...request, headers: { ...request.headers, authorization: value } }
      )

    /** Sends again once with a new token when the first answer is 401: no token was sent, or it has expired. */
    const call = Effect.fnUntraced(function*(request: GuardedRequest, what: string) {
      const used = yield* current
      const first = yield* authorized(request, used)
      const retried = first.status === 401 && place.authorize === undefined
      if (retried) yield* refresh(first, used, what)
      const response = retried ? yield* authorized(request, yield* Ref.get(authorization)) : first
      if (response.status !== 401 && response.status !== 403) return response
      const said = yield* Effect.orElseSucceed(readAll(response), () => Buffer.of())
      return yield* refused(what, wordsIn(said.toString("utf8")))
    })

    const at = (path: string) => `${root}/v2/${repository}/${path}`

    return { call, at, readAll, registry } as const
  })

export type RegistryCalls = Effect.Effect.Success<ReturnType<typeof registryCalls>>

/** Whether a retry may help: for errors of the network, not for answers of the registry. */
export const isTransient = (error: ImageError): boolean => error.reason === "unreachable"
