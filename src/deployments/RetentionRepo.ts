import { PlanName } from "#src/plans/Plan.ts"
import { many, maybe, one } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Option, Schema } from "effect"

const Version = Schema.Struct({
  id: Schema.String,
  serverId: Schema.String,
  version: Schema.Int,
  active: Schema.Boolean,
  ran: Schema.Boolean,
  keptByPlan: Schema.Int,
  inFlight: Schema.Boolean,
  /** Whether it failed and its machine is kept for its logs, until the next deployment. */
  keptForLogs: Schema.Boolean,
  imageDigest: Schema.String,
  imageUri: Schema.String,
  /** Bytes of its layers and files; 0 for deployments made before these were counted. */
  imageBytes: Schema.Number,
  plan: PlanName,
  deploymentRetentionCount: Schema.Int
})

const Image = Schema.Struct({ layerBytes: Schema.Number, unpackedBytes: Schema.NullOr(Schema.Number) })

export class RetentionRepo extends Effect.Service<RetentionRepo>()("deployments/RetentionRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const bytes = sql`(i.layer_bytes + coalesce(i.unpacked_bytes, 0))::float8`
    /** Omits versions that never ran and are not being deployed: no rule needs them. */
    const versions = many(Version)((which: Statement.Fragment, machines: ReadonlyArray<string>) =>
      sql`SELECT d.id, d.server_id, d.version, d.active, d.deployed_at IS NOT NULL AS ran, d.kept_by_plan,
                d.status IN ('pending', 'building') AS in_flight,
                d.stage = 'kept' AND NOT EXISTS (SELECT FROM deployments n
                  WHERE n.server_id = d.server_id AND n.version > d.version) AS kept_for_logs, d.image_digest, d.image_uri, coalesce(${bytes}, 0) AS image_bytes,
                u.plan, s.deployment_retention_count
              FROM deployments d JOIN servers s ON s.id = d.server_id JOIN projects p ON p.id = s.project_id
              JOIN users u ON u.id = p.account_id LEFT JOIN images i ON i.digest = d.image_digest
              WHERE d.image_digest IS NOT NULL AND
                (d.deployed_at IS NOT NULL OR d.status IN ('pending', 'building') OR d.stage = 'kept'
                  OR ${sql.in("d.id", machines)}) ${which}`
    )
    const image = maybe(Image)((digest: string) =>
      sql`SELECT layer_bytes::float8 AS layer_bytes, unpacked_bytes::float8 AS unpacked_bytes FROM images
            WHERE digest = ${digest}`
    )
    const sizeOf = one(Schema.Struct({ bytes: Schema.Number }).pipe(Schema.pluck("bytes")))((digest: string) =>
      sql`SELECT ${bytes} AS bytes FROM images i WHERE digest = ${digest}`
    )
    const withSize = (write: Effect.Effect<unknown, unknown>, digest: string) =>
      Effect.zipRight(Effect.orDie(write), sizeOf(digest))

    return {
      /** All versions that have an image and may need it, including those of existing machines. */
      versions: (machines: ReadonlyArray<string>) => versions(sql``, machines),
      versionsOf: (accountId: string) => versions(sql`AND p.account_id = ${accountId}`, []),
      image: (digest: string) =>
        Effect.map(image(digest), Option.getOrElse(() => ({ layerBytes: 0, unpackedBytes: null }))),
      /** Stores the size of an image's layers; returns the image's total size as far as it is known. */
      putImage: (layerBytes: number) => (digest: string) =>
        withSize(sql`INSERT INTO images ${sql.insert({ digest, layerBytes })} ON CONFLICT (digest) DO NOTHING`, digest),
      /** The same for the size of its unpacked files. */
      setUnpacked: (unpackedBytes: number) => (digest: string) =>
        withSize(
          sql`INSERT INTO images ${sql.insert({ digest, layerBytes: 0, unpackedBytes })} ON CONFLICT (digest)
              DO UPDATE SET unpacked_bytes = excluded.unpacked_bytes`,
          digest
        ),
      /** Deletes the sizes of images that no deployment refers to. */
      forgetImages: Effect.orDie(Effect.asVoid(
        sql`DELETE FROM images i WHERE NOT EXISTS (SELECT FROM deployments d WHERE d.image_digest = i.digest)`
      ))
    } as const
  })
}) {}
