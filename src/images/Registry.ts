import { Effect } from "effect"
import { type ImageError, imageError } from "./ImageError.ts"
import { type Login } from "./login.ts"
import { acceptedTypes, type Descriptor, digestOf } from "./manifest.ts"
import { formatReference, type RegistryReference } from "./reference.ts"
import { registryAdvice } from "./registry-advice.ts"
import { type Access, registryCalls } from "./registry-calls.ts"
import type { Source, SourceDocument } from "./Source.ts"

/** https, or plain http where the guard allows that and https does not answer. */
const findRoot = Effect.fnUntraced(function*({ http }: Access, registry: string) {
  const secure = `https://${registry}`
  const plain = `http://${registry}`
  const exempt = yield* Effect.isSuccess(http.check(plain))
  if (!exempt) return secure
  const answers = yield* Effect.isSuccess(http.send({ url: `${secure}/v2/`, totalMs: 5000 }))
  return answers ? secure : plain
})

const named = ({ name }: Login, registry: string) => name === undefined || name === registry ? "" : ` ${name}`

const refusedTo = (login: Login | undefined, registry: string) => (what: string) =>
  imageError(
    "unauthorized",
    `${registry} refuses ${what}` + (login === undefined
      ? ": it is private, or does not exist. If it is private, give your account credentials for the registry (" +
        `${registryAdvice.add}), or have the server name those it has (${registryAdvice.name}), and deploy again`
      : ` with your account's credentials${
        named(login, registry)
      }: check the password (${registryAdvice.change}), and ` +
        "whether that user may read it; or it does not exist")
  )

/** How a registry is read by who did not find it by an image's address. */
export interface Known {
  readonly root: string
  readonly refused: (what: string) => ImageError
}

/**
 * An image in a registry, by the OCI distribution specification (pull). A registry on the operator's allow-list of
 * private hosts may use plain http.
 */
export const registrySource = (access: Access, reference: RegistryReference, login?: Login, known?: Known) =>
  Effect.gen(function*() {
    const { limits } = access
    const { registry, repository } = reference
    const name = formatReference(reference)
    const { at, call, readAll } = yield* registryCalls(access, {
      root: known?.root ?? (yield* findRoot(access, registry)),
      registry,
      repository,
      actions: "pull",
      login,
      refused: known?.refused ?? refusedTo(login, registry)
    })

    const get = Effect.fnUntraced(function*(request: Parameters<typeof call>[0], what: string) {
      const response = yield* call(request, what)
      if (response.status === 200) return response
      return yield* response.status === 404
        ? imageError("not_found", `${what} does not exist`)
        : imageError("unreachable", `${registry} answered ${response.status} for ${what}`)
    })

    const document = (target: string) =>
      Effect.gen(function*() {
        const what = target === reference.digest || target === reference.tag ? name : `${name} (${target})`
        const response = yield* get({
          url: at(`manifests/${target}`),
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
      const response = yield* get({
        url: at(`blobs/${descriptor.digest}`),
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
