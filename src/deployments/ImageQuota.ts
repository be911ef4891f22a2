import { Quotas } from "#src/accounts/Quotas.ts"
import { ImageError } from "#src/images/ImageError.ts"
import { Images } from "#src/images/Images.ts"
import { type PlanName, plans } from "#src/plans/Plan.ts"
import { inBytes } from "#src/shared/bytes.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Data, Effect } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { neededVersions } from "./retention-rule.ts"
import { RetentionRepo } from "./RetentionRepo.ts"

/** The account's images take more than its plan allows; the message is for the deployment's record. */
export class ImageQuotaReached extends Data.TaggedError("ImageQuotaReached")<{ readonly message: string }> {}

interface Owner {
  readonly accountId: string
  readonly plan: PlanName
}

interface Kept {
  /** Bytes of the account's images, the one that is deployed left out. */
  readonly others: number
  /** Whether the account has the image for another version already: then it costs nothing more. */
  readonly had: boolean
}

/**
 * What an account's images may take of the disk: those that run or can be rolled back to, and those that are on their way,
 * each once. Layers count as soon as they are to be stored, files when they are unpacked.
 */
export class ImageQuota extends Effect.Service<ImageQuota>()("deployments/ImageQuota", {
  effect: Effect.gen(function*() {
    const repo = yield* RetentionRepo
    const quotas = yield* Quotas
    const images = yield* Images
    const sql = yield* SqlClient.SqlClient

    const keptBy = Effect.fn("ImageQuota.keptBy")(
      function*({ accountId }: Owner, record: DeploymentRow, digest: string) {
        const versions = neededVersions(yield* repo.versionsOf(accountId)).filter(({ id }) => id !== record.id)
        const sizes = new Map(versions.map(({ imageBytes, imageDigest }) => [imageDigest, imageBytes]))
        const had = versions.some(({ imageDigest, inFlight }) => imageDigest === digest && !inFlight)
        sizes.delete(digest)
        return { others: [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0), had } satisfies Kept
      }
    )

    const reached = ({ plan }: Owner, { others }: Kept, what: string) =>
      new ImageQuotaReached({
        message:
          `the image ${what}, and the ${plan} plan allows ${inBytes(plans[plan].quotas.imageBytes ?? 0)} of images, ` +
          `of which ${inBytes(others)} are used; delete servers, keep fewer versions (deploymentRetentionCount), or ` +
          "change the plan"
      })

    /** One after the other for each account: two deployments at once can't both take what is left. */
    const counted = (
      owner: Owner,
      record: DeploymentRow,
      digest: string,
      write: (digest: string) => Effect.Effect<number>,
      says: (bytes: number) => string
    ) =>
      Effect.gen(function*() {
        yield* quotas.lock(owner.accountId)
        const bytes = yield* write(digest)
        const kept = yield* keptBy(owner, record, digest)
        const allowed = plans[owner.plan].quotas.imageBytes
        if (kept.had || allowed === null || kept.others + bytes <= allowed) return undefined
        return reached(owner, kept, says(bytes))
      }).pipe(transactionally(sql), Effect.flatMap((refusal) => refusal ?? Effect.void))

    return {
      /** Before the image is copied: there must be room for its layers, at the least. */
      admit: (owner: Owner, record: DeploymentRow, digest: string, layerBytes: number) =>
        counted(owner, record, digest, repo.putImage(layerBytes), (bytes) => `has ${inBytes(bytes)}`),

      /**
       * Unpacks: refused as soon as the image is larger than what is left, and once more at its end, when others may have
       * taken that. `unpack` gets the most bytes that it may come to.
       */
      unpacked: Effect.fn("ImageQuota.unpacked")(function*<E>(
        owner: Owner,
        record: DeploymentRow,
        digest: string,
        unpack: (most: number) => Effect.Effect<{ readonly bytes: number | undefined }, E | ImageError>
      ) {
        const kept = yield* keptBy(owner, record, digest)
        const { layerBytes, unpackedBytes } = yield* repo.image(digest)
        const allowed = plans[owner.plan].quotas.imageBytes
        const most = kept.had || allowed === null ? Infinity : Math.max(0, allowed - kept.others - layerBytes)
        const { bytes } = yield* unpack(most).pipe(
          Effect.mapError((error) =>
            error instanceof ImageError && error.reason === "over_budget"
              ? reached(owner, kept, `unpacks to more than ${inBytes(most)}`)
              : error
          )
        )
        const size = bytes ?? unpackedBytes ?? (yield* images.measure(digest))
        yield* counted(owner, record, digest, repo.setUnpacked(size), (all) => `comes to ${inBytes(all)}`)
      })
    } as const
  })
}) {}
