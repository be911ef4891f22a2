import { ImageError } from "#src/images/ImageError.ts"
import { Images } from "#src/images/Images.ts"
import { Mirror } from "#src/images/Mirror.ts"
import { keyedMutex } from "#src/shared/keyed-mutex.ts"
import { Data, Effect, Option, Ref } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { MirroredImagesRepo } from "./MirroredImagesRepo.ts"

/** An image could not be copied to the platform's registry; the message goes into the deployment's record. */
export class NotMirrored extends Data.TaggedError("NotMirrored")<{ readonly message: string }> {}

const reasons: Partial<Record<ImageError["reason"], string>> = {
  full: "it has no room left",
  unauthorized: "it refuses the platform's credentials",
  not_allowed: "the platform may not connect to it",
  not_found: "it does not know the platform's repository",
  too_large: "it takes no layer of that size",
  not_taken: "it does not take it",
  digest_mismatch: "a layer was damaged on the way; deploy the image again",
  unreachable: "it could not be reached, or answered with an error"
}

/** In words for the server's owner, who need not know where the operator's registry is. */
const notMirrored = (error: ImageError) =>
  new NotMirrored({
    message: `the image can't be copied to the platform's registry: ${
      reasons[error.reason] ?? "it is not complete in the platform's store; deploy the image again"
    }`
  })

interface Tell {
  readonly log: (message: string) => Effect.Effect<void>
  readonly doing: (line: string) => Effect.Effect<void>
}

/** Which images are in the operator's registry beside the store: pushed when deployed, removed when nobody needs them. */
export class Mirroring extends Effect.Service<Mirroring>()("deployments/Mirroring", {
  effect: Effect.gen(function*() {
    const images = yield* Images
    const { at } = yield* Mirror
    const repo = yield* MirroredImagesRepo
    /** A push and a removal of one image come one after the other. */
    const alone = keyedMutex()
    const mayRemove = yield* Ref.make(true)
    if (Option.isNone(at)) {
      return {
        has: (_digest: string): Effect.Effect<boolean> => Effect.succeed(false),
        push: (_record: DeploymentRow, _digest: string, _tell: Tell): Effect.Effect<void, NotMirrored> => Effect.void,
        pull: (_digest: string, _imageUri: string): Effect.Effect<boolean> => Effect.succeed(false),
        removeUnneeded: <E, R>(_needed: Effect.Effect<ReadonlySet<string>, E, R>): Effect.Effect<void, E, R> =>
          Effect.void,
        pushMissing: (_needed: ReadonlyMap<string, string>): Effect.Effect<void> => Effect.void
      } as const
    }
    const mirror = at.value

    /** Whether a rollback may count on it. */
    const has = (digest: string) => repo.has(mirror.name, digest)

    const send = Effect.fn("Mirroring.send")((digest: string, imageUri: string) =>
      Effect.gen(function*() {
        yield* repo.begin(mirror.name, digest)
        const pushed = yield* mirror.push(digest, imageUri)
        yield* repo.end(mirror.name, digest)
        return pushed
      }).pipe(
        alone(digest),
        Effect.tapError((error) => Effect.logWarning(`Copying ${digest} to ${mirror.name} failed: ${error.message}`))
      )
    )

    /** A rollback must work while the registry does not: its image was pushed when it was deployed. */
    const push = Effect.fn("Mirroring.push")(
      function*({ imageUri, type }: DeploymentRow, digest: string, { doing, log }: Tell) {
        if (type === "rollback" && (yield* has(digest))) return
        if (type === "rollback" && !(yield* images.has(digest))) return
        yield* doing("copying the image to the platform's registry")
        const pushed = yield* send(digest, imageUri).pipe(
          Effect.mapError(notMirrored),
          Effect.catchAll((error) => type === "rollback" ? Effect.as(log(error.message), undefined) : error)
        )
        if (pushed !== undefined) yield* log("the image is in the platform's registry too")
      }
    )

    /** Brings an image back into the store; answers whether it is there now. */
    const pull = Effect.fn("Mirroring.pull")(
      function*(digest: string, imageUri: string) {
        if (!(yield* has(digest))) return false
        yield* mirror.pull(digest, imageUri)
        return true
      },
      Effect.catchAll((error) =>
        Effect.as(Effect.logWarning(`Getting an image back from ${mirror.name} failed: ${error.message}`), false)
      )
    )

    const remove = <E, R>(digest: string, needed: Effect.Effect<ReadonlySet<string>, E, R>) =>
      Effect.gen(function*() {
        // Asked again in its turn: a deployment may have come that relies on it.
        if ((yield* needed).has(digest)) return
        if (yield* mirror.remove(digest)) return yield* repo.forget(mirror.name, digest)
        yield* Ref.set(mayRemove, false)
        yield* Effect.logWarning(`${mirror.name} allows no removal: images that nobody needs any more stay there`)
      }).pipe(
        alone(digest),
        Effect.catchIf(
          (error): error is Extract<E | ImageError, ImageError> => error instanceof ImageError,
          (error) => Effect.logWarning(`Removing ${digest} from ${mirror.name} failed: ${error.message}`)
        )
      )

    const removeUnneeded = Effect.fn("Mirroring.removeUnneeded")(
      function*<E, R>(needed: Effect.Effect<ReadonlySet<string>, E, R>) {
        const keep = yield* needed
        for (const digest of yield* repo.all(mirror.name)) {
          if (!keep.has(digest) && (yield* Ref.get(mayRemove))) yield* remove(digest, needed)
        }
      }
    )

    /** Copies what was deployed before there was a registry, or while it did not answer; by digest, its address. */
    const pushMissing = Effect.fn("Mirroring.pushMissing")(function*(needed: ReadonlyMap<string, string>) {
      for (const [digest, imageUri] of needed) {
        if ((yield* has(digest)) || !(yield* images.has(digest))) continue
        const sent = yield* Effect.either(send(digest, imageUri))
        // One that does not answer is asked again in the next hour.
        if (sent._tag === "Left") return
      }
    })

    return { has, push, pull, removeUnneeded, pushMissing } as const
  })
}) {}
