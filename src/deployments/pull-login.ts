import { HeldBlobs } from "#src/images/HeldBlobs.ts"
import { imageError } from "#src/images/ImageError.ts"
import { ImageRegistries } from "#src/registries/ImageRegistries.ts"
import { Effect, Option } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"

/** With what a deployment's image is pulled: the credentials of the account that owns its project, for that registry. */
export const makePullLogin = Effect.gen(function*() {
  const registries = yield* ImageRegistries
  const repo = yield* DeploymentsRepo

  return Effect.fn("Deployments.pullLogin")(function*({ imageUri, serverId }: DeploymentRow) {
    const server = yield* repo.server(serverId)
    if (Option.isNone(server)) return undefined
    return yield* Effect.mapError(
      registries.loginFor(server.value.accountId, imageUri),
      ({ message }) => imageError("storage", message)
    )
  })
})

/** Who a deployment's image is pulled for: the account that owns its project. */
export const makeHolder = Effect.gen(function*() {
  const held = yield* HeldBlobs
  const repo = yield* DeploymentsRepo
  return ({ serverId }: DeploymentRow) =>
    Effect.map(repo.server(serverId), (server) => held.of(Option.isSome(server) ? server.value.accountId : ""))
})
