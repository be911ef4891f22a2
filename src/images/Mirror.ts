import { CurrentSettings } from "#src/config/Settings.ts"
import { makeGuardedHttp } from "#src/shared/GuardedHttp.ts"
import { Effect, Either, Option } from "effect"
import { join } from "node:path"
import { imageError } from "./ImageError.ts"
import { Images } from "./Images.ts"
import { ImageLimits } from "./limits.ts"
import { deleteManifest, hasManifest, type Pushed, pushImage } from "./push-image.ts"
import { parseReference } from "./reference.ts"
import { registryCalls } from "./registry-calls.ts"
import { registrySource } from "./Registry.ts"
import { sendable } from "./sendable.ts"
import { makeStore } from "./Store.ts"

/** The tag that keeps an image from who cleans up what has none. */
const tagOf = (digest: string) => `image-${digest.slice("sha256:".length)}`

/** The registry of `REGISTRY_URL`: one repository with a copy of every deployed image, by digest. */
export class Mirror extends Effect.Service<Mirror>()("images/Mirror", {
  effect: Effect.gen(function*() {
    const { home, mirror } = yield* CurrentSettings
    const limits = yield* ImageLimits
    const images = yield* Images
    if (Option.isNone(mirror)) return { at: Option.none() }

    const { host, login, repository, root } = mirror.value
    const name = `${host}/${repository}`
    const store = makeStore(join(home, "images"))
    // The operator named this host, so it may be private; images of users may not come from there all the same.
    const access = { http: yield* makeGuardedHttp([host]), limits, loopback: true }
    const refused = () =>
      imageError(
        "unauthorized",
        `${host} lets nobody in${Option.isSome(login) ? " with REGISTRY_USERNAME and REGISTRY_PASSWORD" : ""}`
      )
    const place = {
      root,
      registry: host,
      repository,
      actions: "pull,push",
      login: Option.getOrUndefined(login),
      refused
    } as const

    /** Where this registry has the image already, under its own name. */
    const mountFrom = (imageUri: string) =>
      Either.match(parseReference(imageUri), {
        onLeft: () => undefined,
        onRight: (reference) =>
          reference._tag === "Registry" && reference.registry === host ? reference.repository : undefined
      })

    /** Copies an image of the store there; undefined when it is there already. */
    const push = Effect.fn("Mirror.push")(function*(
      digest: string,
      imageUri: string,
      onProgress: (done: Pushed) => void = () => {}
    ) {
      const image = yield* sendable(store, digest, limits)
      const calls = yield* registryCalls(access, place)
      if (yield* hasManifest(calls, image, limits.documentMs)) return undefined
      return yield* pushImage(calls, image, {
        tag: tagOf(digest),
        mountFrom: mountFrom(imageUri),
        pauseMs: limits.pushPauseMs,
        blobMs: limits.blobMs,
        documentMs: limits.documentMs,
        onProgress
      }).pipe(
        // Bytes that do not fit their digest there may be damaged here: they are gone then, and come again.
        Effect.tapError((error) =>
          error.reason === "digest_mismatch"
            ? Effect.ignore(Effect.forEach(image.blobs, ({ digest }) => Effect.ignore(store.recheck(digest))))
            : Effect.void
        )
      )
    })

    /** Brings an image back into the store. */
    const pull = Effect.fn("Mirror.pull")(function*(digest: string, imageUri: string) {
      const reference = { _tag: "Registry", registry: host, repository, digest } as const
      const source = yield* registrySource(access, reference, place.login, { root, refused })
      yield* images.take(source, imageUri, digest)
    })

    /** Removes an image; answers whether the registry allows that. Its layers are the registry's to clean up. */
    const remove = Effect.fn("Mirror.remove")((digest: string) =>
      Effect.flatMap(registryCalls(access, place), (calls) => deleteManifest(calls, digest, limits.documentMs))
    )

    return { at: Option.some({ name, host, push, pull, remove } as const) }
  })
}) {}
