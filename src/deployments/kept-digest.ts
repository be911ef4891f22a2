import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Images } from "#src/images/Images.ts"
import { plans } from "#src/plans/Plan.ts"
import { type ServerRow } from "#src/servers/Server.ts"
import { Effect } from "effect"
import { type DeploymentRow, VersionNotKept } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { Mirroring } from "./Mirroring.ts"
import { keptVersions } from "./retention-rule.ts"

/** The digest for a rollback to a version; fails when the plan's or the server's retention no longer keeps it. */
export const makeKeptDigest = Effect.gen(function*() {
  const repo = yield* DeploymentsRepo
  const images = yield* Images
  const mirroring = yield* Mirroring

  return Effect.fn("Deployments.keptDigest")(function*(server: ServerRow, target: DeploymentRow) {
    const { version } = target
    const { plan } = yield* CurrentActor
    const notKept = (reason: string) => new VersionNotKept({ version, reason })
    if (target.deployedAt === null || target.imageDigest === null) return yield* notKept("it never ran")
    const kept = keptVersions(yield* repo.versions(server.id), plans[plan], server)
    if (!kept.has(version)) return yield* notKept("it is no longer kept")
    return (yield* images.has(target.imageDigest)) || (yield* mirroring.has(target.imageDigest))
      ? target.imageDigest
      : yield* notKept("its image is no longer kept")
  })
})
