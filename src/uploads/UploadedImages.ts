import { CurrentSettings } from "#src/config/Settings.ts"
import { imageError } from "#src/images/ImageError.ts"
import { Images } from "#src/images/Images.ts"
import { formatReference, parseReference, type RegistryReference } from "#src/images/reference.ts"
import { Effect, Either, Option } from "effect"
import { Manifests } from "./Manifests.ts"
import { repositoryOf } from "./names.ts"
import { UploadFiles } from "./UploadFiles.ts"
import { UploadsRepo } from "./UploadsRepo.ts"

/** Images that were pushed here, for those who deploy them and for those who remove images that nobody needs. */
export class UploadedImages extends Effect.Service<UploadedImages>()("uploads/UploadedImages", {
  effect: Effect.gen(function*() {
    const host = new URL((yield* CurrentSettings).baseUrl).host
    const repo = yield* UploadsRepo
    const files = yield* UploadFiles
    const manifests = yield* Manifests
    const images = yield* Images

    /** The address of an image that was pushed here; undefined for any other. */
    const ownReference = (imageUri: string): RegistryReference | undefined => {
      const reference = Either.getOrUndefined(parseReference(imageUri))
      return reference?._tag === "Registry" && reference.registry === host ? reference : undefined
    }

    /** Where an image of the account's would be; none when the account has no such project. */
    const placeOf = Effect.fnUntraced(function*(accountId: string, reference: RegistryReference) {
      const repository = yield* Effect.option(repositoryOf(reference.repository))
      if (Option.isNone(repository)) return Option.none()
      const project = yield* repo.projectOf(accountId, repository.value.project)
      return Option.map(project, (projectId) => ({ projectId, name: repository.value.name }))
    })

    /** The image that the address names in the account's projects. */
    const resolve = Effect.fn("UploadedImages.resolve")(function*(accountId: string, imageUri: string) {
      const reference = ownReference(imageUri)
      const missing = imageError("not_found", `${imageUri} was not pushed by this account, or was deleted since`)
      if (reference === undefined) return yield* missing
      const place = yield* placeOf(accountId, reference)
      if (Option.isNone(place)) return yield* missing
      const named = reference.digest ?? reference.tag ?? "latest"
      const { digest, mediaType } = yield* Effect.mapError(manifests.find(place.value, named), () => missing)
      return yield* images.inStore(formatReference(reference), digest, mediaType)
    })

    /** Uploads that nobody has gone on with for a day, and blobs that no manifest has named in that time. */
    const forget = Effect.fn("UploadedImages.forget")(function*() {
      yield* repo.endAbandoned
      yield* manifests.forget
      yield* repo.removeForgotten
      // Listed first: a file is there after its record.
      const left = yield* Effect.promise(files.list)
      const known = new Set(yield* repo.allUnfinished())
      yield* Effect.forEach(left.filter((id) => !known.has(id)), (id) => Effect.promise(() => files.remove(id)))
    })

    return {
      /** Whether an image's address is one of those that are pushed here. */
      isOwn: (imageUri: string) => ownReference(imageUri) !== undefined,
      /** The project of such an address. */
      projectOf: (accountId: string, imageUri: string) => {
        const reference = ownReference(imageUri)
        return reference === undefined
          ? Effect.succeedNone
          : Effect.map(placeOf(accountId, reference), Option.map(({ projectId }) => projectId))
      },
      host,
      resolve,
      forget,
      /** Digests of blobs and manifests that must stay in the store. */
      kept: Effect.suspend(() => repo.kept())
    } as const
  })
}) {}
