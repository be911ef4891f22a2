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
  inFlight: Schema.Boolean,
  /** Whether it failed and its machine was left for its logs, until the next deployment. */
  keptForLogs: Schema.Boolean,
  imageDigest: Schema.String,
  /** Of its layers and its files; 0 for what was deployed before these were counted. */
  imageBytes: Schema.Number,
  plan: PlanName,
  deploymentRetentionCount: Schema.Int
})

const Image = Schema.Struct({ layerBytes: Schema.Number, unpackedBytes: Schema.NullOr(Schema.Number) })

export class RetentionRepo extends Effect.Service<RetentionRepo>()("deployments/RetentionRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const bytes = sql`(i.layer_bytes + coalesce(i.unpacked_bytes, 0))::float8`
    /** The rest never ran, and is not about to: no rule asks for it. */
    const versions = many(Version)((which: Statement.Fragment, standing: ReadonlyArray<string>) =>
      sql`SELECT d.id, d.server_id, d.version, d.active, d.deployed_at IS NOT NULL AS ran,
                d.status IN ('pending', 'building') AS in_flight,
                d.stage = 'kept' AND NOT EXISTS (SELECT FROM deployments n
                  WHERE n.server_id = d.server_id AND n.version > d.version) AS kept_for_logs, d.image_digest, coalesce(${bytes}, 0) AS image_bytes,
                u.plan, s.deployment_retention_count
              FROM deployments d JOIN servers s ON s.id = d.server_id JOIN projects p ON p.id = s.project_id
              JOIN users u ON u.id = p.account_id LEFT JOIN images i ON i.digest = d.image_digest
              WHERE d.image_digest IS NOT NULL AND
                (d.deployed_at IS NOT NULL OR d.status IN ('pending', 'building') OR d.stage = 'kept'
                  OR ${sql.in("d.id", standing)}) ${which}`
    )
    const image = maybe(Image)((digest: string) =>
      sql`SELECT layer_bytes::float8 AS layer_bytes, unpacked_bytes::float8 AS unpacked_bytes FROM images
            WHERE digest = ${digest}`
    )
    const sizeOf = one(Schema.Struct({ bytes: Schema.Number }).pipe(Schema.pluck("bytes")))((digest: string) =>
      sql`SELECT ${bytes} AS bytes FROM images i WHERE digest = ${digest}`
    )
    const sized = (write: Effect.Effect<unknown, unknown>, digest: string) =>
      Effect.zipRight(Effect.orDie(write), sizeOf(digest))

    return {
      /** Every version that has an image and may need it, those of the machines that stand among them. */
      versions: (standing: ReadonlyArray<string>) => versions(sql``, standing),
      versionsOf: (accountId: string) => versions(sql`AND p.account_id = ${accountId}`, []),
      image: (digest: string) =>
        Effect.map(image(digest), Option.getOrElse(() => ({ layerBytes: 0, unpackedBytes: null }))),
      /** Writes down what an image's layers take; how much the image takes then, as far as it is known. */
      putImage: (layerBytes: number) => (digest: string) =>
        sized(sql`INSERT INTO images ${sql.insert({ digest, layerBytes })} ON CONFLICT (digest) DO NOTHING`, digest),
      /** The same of what it was unpacked to. */
      setUnpacked: (unpackedBytes: number) => (digest: string) =>
        sized(
          sql`INSERT INTO images ${sql.insert({ digest, layerBytes: 0, unpackedBytes })} ON CONFLICT (digest)
              DO UPDATE SET unpacked_bytes = excluded.unpacked_bytes`,
          digest
        ),
      /** Of images that no deployment remembers nothing need be known. */
      forgetImages: Effect.orDie(Effect.asVoid(
        sql`DELETE FROM images i WHERE NOT EXISTS (SELECT FROM deployments d WHERE d.image_digest = i.digest)`
      ))
    } as const
  })
}) {}
