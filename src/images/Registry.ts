import { type GuardedHttp, type GuardedRequest, type GuardedResponse } from "#src/shared/GuardedHttp.ts"
import { nextHop } from "#src/shared/redirect.ts"
import { Effect, Ref, Schema } from "effect"
import type { Readable } from "node:stream"
import { bearerChallenge, tokenUrl } from "./challenge.ts"
import { fromGuard, type ImageError, imageError } from "./ImageError.ts"
import type { Limits } from "./limits.ts"
import { acceptedTypes, decodeDocument, type Descriptor, digestOf } from "./manifest.ts"
import { formatReference, type RegistryReference } from "./reference.ts"
import type { Source, SourceDocument } from "./Source.ts"

const maxHops = 5

const decodeToken = decodeDocument(
  Schema.Struct({ token: Schema.optional(Schema.String), access_token: Schema.optional(Schema.String) }),
  "The registry's token answer"
)

/**
 * An image in a registry, by the OCI distribution specification (pull): anonymous or with the token that the registry
 * requires. A registry on the operator's allow-list of private hosts may use plain http.
 */
export const registrySource = (http: GuardedHttp, limits: Limits, reference: RegistryReference) =>
  Effect.gen(function*() {
    const name = formatReference(reference)
    const token = yield* Ref.make<string | undefined>(undefined)
    const mutex = yield* Effect.makeSemaphore(1)

    /** Follows redirects, each through the guard. */
    const exchange = Effect.fnUntraced(function*(first: GuardedRequest) {
      let request = first
      for (let hop = 0; hop <= maxHops; hop++) {
        const response = yield* Effect.mapError(http.open(request), fromGuard)
        const next = nextHop(request, response)
        if (next === undefined) return response
        request = next
      }
      return yield* imageError("unreachable", `${reference.registry} redirects more than ${maxHops} times`)
    })

    const readAll = (response: GuardedResponse<Readable>) =>
      Effect.mapError(http.collect(reference.registry, response.body), fromGuard)

    const statusError = (status: number, what: string): ImageError => {
      if (status === 404) return imageError("not_found", `${what} does not exist`)
      if (status === 401 || status === 403) {
        return imageError("unauthorized", `${reference.registry} refuses ${what}: it is private, or does not exist`)
      }
      return imageError("unreachable", `${reference.registry} answered ${status} for ${what}`)
    }

    const fetchToken = Effect.fnUntraced(function*(response: GuardedResponse<Readable>) {
      const challenge = bearerChallenge(response.headers["www-authenticate"])
      const url = challenge && tokenUrl(challenge, `repository:${reference.repository}:pull`)
      if (url === undefined) return yield* statusError(401, name)
      const answer = yield* exchange({ url, totalMs: limits.documentMs })
      if (answer.status !== 200) return yield* statusError(answer.status === 404 ? 401 : answer.status, name)
      const { access_token, token: value = access_token } = yield* decodeToken(yield* readAll(answer))
      // The token goes into a header, so only token68 (RFC 6750 §2.1) is accepted.
      if (value === undefined || !/^[A-Za-z0-9._~+/=-]{1,16384}$/.test(value)) {
        return yield* imageError("unauthorized", `${reference.registry} gave no usable token for ${name}`)
      }
      yield* Ref.set(token, value)
    }, Effect.scoped)

    /** When several pulls find the token expired, the first fetches a new one and the others wait for it. */
    const refresh = (response: GuardedResponse<Readable>, used: string | undefined) =>
      Effect.flatMap(Ref.get(token), (current) => current === used ? fetchToken(response) : Effect.void).pipe(
        mutex.withPermits(1)
      )

    const authorized = (request: GuardedRequest, value: string | undefined) =>
      exchange(
        value === undefined
          ? request
          : { ...request, headers: { ...request.headers, authorization: `Bearer ${value}` } }
      )

    /** Retries once with a new token when the first answer is 401: no token was sent, or it has expired. */
    const call = Effect.fnUntraced(function*(request: GuardedRequest, what: string) {
      const used = yield* Ref.get(token)
      const first = yield* authorized(request, used)
      if (first.status === 401) yield* refresh(first, used)
      const response = first.status === 401 ? yield* authorized(request, yield* Ref.get(token)) : first
      return response.status === 200 ? response : yield* statusError(response.status, what)
    })

    const at = (origin: string, path: string) => `${origin}/v2/${reference.repository}/${path}`

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
