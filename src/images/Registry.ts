import { type GuardedHttp, type GuardedRequest, type GuardedResponse } from "#src/shared/GuardedHttp.ts"
import { nextHop } from "#src/shared/redirect.ts"
import { Effect, Ref, Schema } from "effect"
import type { Readable } from "node:stream"
import { asksBasic, bearerChallenge, tokenUrl } from "./challenge.ts"
import { fromGuard, type ImageError, imageError } from "./ImageError.ts"
import type { Limits } from "./limits.ts"
import { basic, isConfidential, type Login } from "./login.ts"
import { acceptedTypes, decodeDocument, type Descriptor, digestOf } from "./manifest.ts"
import { formatReference, type RegistryReference } from "./reference.ts"
import type { Source, SourceDocument } from "./Source.ts"

const maxHops = 5

const decodeToken = decodeDocument(
  Schema.Struct({ token: Schema.optional(Schema.String), access_token: Schema.optional(Schema.String) }),
  "The registry's token answer"
)

/** `loopback`: whether passwords may go to this machine's own addresses over plain http, as in development. */
interface Access {
  readonly http: GuardedHttp
  readonly limits: Limits
  readonly loopback: boolean
}

/** An answer, and the origin that gave it after redirects. */
interface Answer extends GuardedResponse<Readable> {
  readonly origin: string
}

/**
 * An image in a registry, by the OCI distribution specification (pull): anonymous, with a login, or with the token that
 * the registry requires. A registry on the operator's allow-list of private hosts may use plain http.
 */
export const registrySource = ({ http, limits, loopback }: Access, reference: RegistryReference, login?: Login) =>
  Effect.gen(function*() {
    const name = formatReference(reference)
    /** The value of Authorization that the registry has asked for. */
    const authorization = yield* Ref.make<string | undefined>(undefined)
    const mutex = yield* Effect.makeSemaphore(1)

    /** https, or plain http where the guard allows that and https does not answer. */
    const findOrigin = Effect.gen(function*() {
      const secure = `https://${reference.registry}`
      const plain = `http://${reference.registry}`
      const exempt = yield* Effect.isSuccess(http.check(plain))
      if (!exempt) return secure
      const answers = yield* Effect.isSuccess(http.send({ url: `${secure}/v2/`, totalMs: 5000 }))
      return answers ? secure : plain
    })
    const origin = yield* findOrigin

    /** Follows redirects, each through the guard. */
    const exchange = Effect.fnUntraced(function*(first: GuardedRequest) {
      let request = first
      for (let hop = 0; hop <= maxHops; hop++) {
        const response = yield* Effect.mapError(http.open(request), fromGuard)
        const next = nextHop(request, response)
        if (next === undefined) return { ...response, origin: new URL(request.url).origin } satisfies Answer
        request = next
      }
      return yield* imageError("unreachable", `${reference.registry} redirects more than ${maxHops} times`)
    })

    const readAll = (response: GuardedResponse<Readable>) =>
      Effect.mapError(http.collect(reference.registry, response.body), fromGuard)

    const refused = (what: string) =>
      imageError(
        "unauthorized",
        `${reference.registry} refuses ${what}` + (login === undefined
          ? ": it is private, or does not exist. If it is private, give your account credentials for the registry " +
            "(add_registry, POST /v1/registries) and deploy again"
          : ` with your account's credentials: check the password (update_registry, PATCH /v1/registries/{id}), and ` +
            "whether that user may read it; or it does not exist")
      )

    const statusError = (status: number, what: string): ImageError => {
      if (status === 404) return imageError("not_found", `${what} does not exist`)
      if (status === 401 || status === 403) return refused(what)
      return imageError("unreachable", `${reference.registry} answered ${status} for ${what}`)
    }

    /** The login for a URL that the registry named, unless others could read it on the way. */
    const loginFor = (login: Login, url: string) =>
      isConfidential(origin, loopback) && isConfidential(url, loopback)
        ? Effect.succeed(basic(login))
        : imageError("unauthorized", `${reference.registry} asks for a password over plain http: it needs https`)

    const fetchToken = Effect.fnUntraced(function*(response: Answer) {
      const header = response.headers["www-authenticate"]
      const challenge = bearerChallenge(header)
      // The password is for the registry and the realm that it names itself, not for hosts that it redirects to.
      const asked = response.origin === new URL(origin).origin ? login : undefined
      if (challenge === undefined && asked !== undefined && asksBasic(header)) {
        return yield* Ref.set(authorization, yield* loginFor(asked, origin))
      }
      const url = challenge && tokenUrl(challenge, `repository:${reference.repository}:pull`)
      if (url === undefined) return yield* statusError(401, name)
      const headers = asked === undefined ? {} : { authorization: yield* loginFor(asked, url) }
      const answer = yield* exchange({ url, headers, totalMs: limits.documentMs })
      if (answer.status !== 200) return yield* statusError(answer.status === 404 ? 401 : answer.status, name)
      const { access_token, token: value = access_token } = yield* decodeToken(yield* readAll(answer))
      // The token goes into a header, so only token68 (RFC 6750 §2.1) is accepted.
      if (value === undefined || !/^[A-Za-z0-9._~+/=-]{1,16384}$/.test(value)) {
        return yield* imageError("unauthorized", `${reference.registry} gave no usable token for ${name}`)
      }
      yield* Ref.set(authorization, `Bearer ${value}`)
    }, Effect.scoped)

    /** When several pulls find the token expired, the first fetches a new one and the others wait for it. */
    const refresh = (response: Answer, used: string | undefined) =>
      Effect.flatMap(Ref.get(authorization), (current) => current === used ? fetchToken(response) : Effect.void).pipe(
        mutex.withPermits(1)
      )

    const authorized = (request: GuardedRequest, value: string | undefined) =>
      exchange(
        value === undefined
          ? request
          : { ...request, headers: { ...request.headers, authorization: value } }
      )

    /** Retries once with a new token when the first answer is 401: no token was sent, or it has expired. */
    const call = Effect.fnUntraced(function*(request: GuardedRequest, what: string) {
      const used = yield* Ref.get(authorization)
      const first = yield* authorized(request, used)
      if (first.status === 401) yield* refresh(first, used)
      const response = first.status === 401 ? yield* authorized(request, yield* Ref.get(authorization)) : first
      return response.status === 200 ? response : yield* statusError(response.status, what)
    })

    const at = (origin: string, path: string) => `${origin}/v2/${reference.repository}/${path}`

    const document = (target: string) =>
      Effect.gen(function*() {
        const what = target === reference.digest || target === reference.tag ? name : `${name} (${target})`
        const response = yield* call({
          url: at(origin, `manifests/${target}`),
          headers: { accept: acceptedTypes },
          maxBytes: limits.document,
          totalMs: limits.documentMs
        }, what)
        const bytes = yield* readAll(response)
        const digest = digestOf(bytes)
        const expected = target.startsWith("sha256:") ? target : response.headers["docker-content-digest"]
        if (typeof expected === "string" && expected.startsWith("sha256:") && expected !== digest) {
          return yield* imageError(
            "digest_mismatch",
            `The manifest of ${what} has the digest ${digest}, not ${expected}`
          )
        }
        return { bytes, digest, mediaType: response.headers["content-type"] } satisfies SourceDocument
      }).pipe(Effect.scoped)

    const blob = Effect.fnUntraced(function*(descriptor: Descriptor) {
      const response = yield* call({
        url: at(origin, `blobs/${descriptor.digest}`),
        // One byte more than announced is enough to detect a blob that is too large.
        maxBytes: descriptor.size + 1,
        totalMs: limits.blobMs,
        idleMs: 30_000
      }, `blob ${descriptor.digest} of ${name}`)
      return response.body
    })

    return {
      root: document(reference.digest ?? reference.tag ?? "latest"),
      manifest: document,
      blob
    } satisfies Source
  })

/** Whether a retry may help: for errors of the network, not for answers of the registry. */
export const isTransient = (error: ImageError): boolean => error.reason === "unreachable"
