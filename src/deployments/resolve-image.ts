import { imageError } from "#src/images/ImageError.ts"
import { Images } from "#src/images/Images.ts"
import { Packages } from "#src/packages/Packages.ts"
import { isPackage } from "#src/packages/reference.ts"
import { keyedMutex } from "#src/shared/keyed-mutex.ts"
import { UploadedImages } from "#src/uploads/UploadedImages.ts"
import { Effect, Option } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { PackageScripts } from "./PackageScripts.ts"
import { makePullLogin } from "./pull-login.ts"
import { programProblem } from "./run-options.ts"

type Say = (line: string) => Effect.Effect<void>

/** Finds a deployment's image and records its digest; for a package also what that was resolved to. */
export const makeResolveImage = Effect.gen(function*() {
  const images = yield* Images
  const packages = yield* Packages
  const repo = yield* DeploymentsRepo
  const scripts = yield* PackageScripts
  const uploads = yield* UploadedImages
  const loginOf = yield* makePullLogin
  /** An account installs one package at a time, so that none takes all places from the others. */
  const turn = keyedMutex()

  const ofPackage = Effect.fn("Pipeline.resolvePackage")(function*(record: DeploymentRow, say: Say) {
    yield* say(`finding the package ${record.imageUri}`)
    const server = yield* repo.server(record.serverId)
    const account = Option.match(server, { onNone: () => record.serverId, onSome: ({ accountId }) => accountId })
    if (turn.isHeld(account)) yield* say("waiting: another package of this account is being installed")
    const wishes = {
      scripts: scripts.of(record),
      node: record.node,
      served: record.freshDependencies ? [] : yield* repo.servedPackages(record.serverId)
    }
    const { package: found, resolved } = yield* packages.resolve(record.imageUri, say, wishes).pipe(turn(account))
    const problem = programProblem(found, record.command)
    if (problem !== undefined) return yield* imageError("unsupported", problem)
    yield* repo.setDigest(record.id, resolved.digest, found)
    return resolved
  })

  const ofImage = Effect.fn("Pipeline.resolveImage")(function*(record: DeploymentRow, say: Say) {
    yield* say(`finding the image ${record.imageUri}`)
    const resolved = yield* images.resolve(record.imageUri, yield* loginOf(record))
    yield* repo.setDigest(record.id, resolved.digest)
    return resolved
  })

  /** Of what was pushed here the account has its own alone. */
  const ofUpload = Effect.fn("Pipeline.resolveUpload")(function*(record: DeploymentRow, say: Say) {
    yield* say(`finding the pushed image ${record.imageUri}`)
    const server = yield* repo.server(record.serverId)
    const accountId = Option.match(server, { onNone: () => "", onSome: ({ accountId }) => accountId })
    const resolved = yield* uploads.resolve(accountId, record.imageUri)
    yield* repo.setDigest(record.id, resolved.digest)
    return resolved
  })

  return (record: DeploymentRow, say: Say) => {
    if (isPackage(record.imageUri)) return ofPackage(record, say)
    return uploads.isOwn(record.imageUri) ? ofUpload(record, say) : ofImage(record, say)
  }
})
