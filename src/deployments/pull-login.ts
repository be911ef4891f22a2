import { HeldBlobs } from "#src/images/HeldBlobs.ts"
import { imageError } from "#src/images/ImageError.ts"
import { isPackage } from "#src/packages/reference.ts"
import { ImageRegistries } from "#src/registries/ImageRegistries.ts"
import { UploadedImages } from "#src/uploads/UploadedImages.ts"
import { Effect, Option } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"

/**
 * With what a deployment's image is pulled: the credentials of the account that owns its project, for that registry, and
 * those among them that the server names.
 */
export const makePullLogin = Effect.gen(function*() {
  const registries = yield* ImageRegistries
  const repo = yield* DeploymentsRepo

  return Effect.fn("Deployments.pullLogin")(function*({ imageUri, serverId }: DeploymentRow) {
    const server = yield* repo.server(serverId)
    if (Option.isNone(server)) return undefined
    const { accountId, registryCredential } = server.value
    return yield* Effect.mapError(
      registries.loginFor(accountId, imageUri, registryCredential),
      ({ message }) => imageError("storage", message)
    )
  })
})

/**
 * Who a deployment's image is pulled for: the account that owns its project. What the store has may be another account's:
 * then the registry must send it, too. Undefined for packages, which are public, and for what was pushed here, whose
 * owner was looked up.
 */
export const makeHolder = Effect.gen(function*() {
  const held = yield* HeldBlobs
  const repo = yield* DeploymentsRepo
  const uploads = yield* UploadedImages
  return ({ imageUri, serverId }: DeploymentRow) =>
    isPackage(imageUri) || uploads.isOwn(imageUri)
      ? Effect.succeed(undefined)
      : Effect.map(repo.server(serverId), (server) => held.of(Option.isSome(server) ? server.value.accountId : ""))
})
