import { many, maybe, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option, Schema } from "effect"

const Digest = Schema.Struct({ digest: Schema.String }).pipe(Schema.pluck("digest"))

/** What a registry has of this installation. Written before a push, so that nothing is forgotten there. */
export class MirroredImagesRepo extends Effect.Service<MirroredImagesRepo>()("deployments/MirroredImagesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const find = maybe(Digest)((registry: string, digest: string) =>
      sql`SELECT digest FROM mirrored_images
            WHERE registry = ${registry} AND digest = ${digest} AND pushed_at IS NOT NULL`
    )

    return {
      has: (registry: string, digest: string) => Effect.map(find(registry, digest), Option.isSome),
      all: many(Digest)((registry: string) => sql`SELECT digest FROM mirrored_images WHERE registry = ${registry}`),
      begin: (registry: string, digest: string) =>
        run(sql`INSERT INTO mirrored_images ${sql.insert({ registry, digest })} ON CONFLICT DO NOTHING`),
      end: (registry: string, digest: string) =>
        run(sql`UPDATE mirrored_images SET pushed_at = now() WHERE registry = ${registry} AND digest = ${digest}`),
      forget: (registry: string, digest: string) =>
        run(sql`DELETE FROM mirrored_images WHERE registry = ${registry} AND digest = ${digest}`)
    } as const
  })
}) {}
