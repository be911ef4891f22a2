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

/** The account's images are larger than its plan allows; the message goes into the deployment's record. */
export class ImageQuotaReached extends Data.TaggedError("ImageQuotaReached")<{ readonly message: string }> {}

interface Owner {
  readonly accountId: string
  readonly plan: PlanName
}

interface StoredImages {
  /** Bytes of the account's images without the one being deployed. */
  readonly others: number
  /** Whether another version of the account already uses the image: then it costs nothing more. */
  readonly shared: boolean
}

const sumOf = (sizes: ReadonlyMap<string, number>) => [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)

/**
 * Limits the disk space of an account's images: those that run, can be rolled back to, or are being deployed, each
 * counted once. Layers count before they are stored, files when they are unpacked.
 */
export class ImageQuota extends Effect.Service<ImageQuota>()("deployments/ImageQuota", {
  effect: Effect.gen(function*() {
    const repo = yield* RetentionRepo
    const quotas = yield* Quotas
    const images = yield* Images
    const sql = yield* SqlClient.SqlClient

    const storedBy = Effect.fn("ImageQuota.keptBy")(
      function*({ accountId }: Owner, record: DeploymentRow, digest: string) {
        const versions = neededVersions(yield* repo.versionsOf(accountId)).filter(({ id }) => id !== record.id)
        const sizes = new Map(versions.map(({ imageBytes, imageDigest }) => [imageDigest, imageBytes]))
        const shared = versions.some(({ imageDigest, inFlight }) => imageDigest === digest && !inFlight)
        sizes.delete(digest)
        return { others: sumOf(sizes), shared } satisfies StoredImages
      }
    )

    const used = Effect.fn("ImageQuota.used")(function*(accountId: string) {
      const versions = neededVersions(yield* repo.versionsOf(accountId))
      return sumOf(new Map(versions.map(({ imageBytes, imageDigest }) => [imageDigest, imageBytes])))
    })

    const quotaError = ({ plan }: Owner, { others }: StoredImages, what: string) =>
      new ImageQuotaReached({
        message:
          `the image ${what}, and the ${plan} plan allows ${inBytes(plans[plan].quotas.imageBytes ?? 0)} of images, ` +
          `of which ${inBytes(others)} are used; delete servers, keep fewer versions (deploymentRetentionCount), or ` +
          "change the plan"
      })

    /** Serialised for each account, so that two concurrent deployments can't both use the remaining space. */
    const admitBytes = (
      owner: Owner,
      record: DeploymentRow,
      digest: string,
      write: (digest: string) => Effect.Effect<number>,
      describe: (bytes: number) => string
    ) =>
      Effect.gen(function*() {
        yield* quotas.lock(owner.accountId)
        const bytes = yield* write(digest)
        const stored = yield* storedBy(owner, record, digest)
        const allowed = plans[owner.plan].quotas.imageBytes
        if (stored.shared || allowed === null || stored.others + bytes <= allowed) return undefined
        return quotaError(owner, stored, describe(bytes))
      }).pipe(transactionally(sql), Effect.flatMap((error) => error ?? Effect.void))

    return {
      /** Bytes of the account's images. */
      used,

      /** Call before the image is copied: checks that there is room at least for its layers. */
      admit: (owner: Owner, record: DeploymentRow, digest: string, layerBytes: number) =>
        admitBytes(owner, record, digest, repo.putImage(layerBytes), (bytes) => `has ${inBytes(bytes)}`),

      /**
       * Unpacks: refused as soon as the image is larger than the remaining space, and checked again at the end, because
       * other deployments may have used that space meanwhile. `unpack` gets the maximum of bytes.
       */
      unpacked: Effect.fn("ImageQuota.unpacked")(function*<E>(
        owner: Owner,
        record: DeploymentRow,
        digest: string,
        unpack: (most: number) => Effect.Effect<{ readonly bytes: number | undefined }, E | ImageError>
      ) {
        const stored = yield* storedBy(owner, record, digest)
        const { layerBytes, unpackedBytes } = yield* repo.image(digest)
        const allowed = plans[owner.plan].quotas.imageBytes
        const most = stored.shared || allowed === null ? Infinity : Math.max(0, allowed - stored.others - layerBytes)
        const { bytes } = yield* unpack(most).pipe(
          Effect.mapError((error) =>
            error instanceof ImageError && error.reason === "over_budget"
              ? quotaError(owner, stored, `unpacks to more than ${inBytes(most)}`)
              : error
          )
        )
        const size = bytes ?? unpackedBytes ?? (yield* images.measure(digest))
        yield* admitBytes(owner, record, digest, repo.setUnpacked(size), (all) => `comes to ${inBytes(all)}`)
      })
    } as const
  })
}) {}
