import { maybe, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Package } from "./Package.ts"

const Row = Schema.Struct({ digest: Schema.String, package: Package, lock: Schema.String })

/** What images were made of, so that they can be made again. */
export class PackagesRepo extends Effect.Service<PackagesRepo>()("packages/PackagesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return {
      byInputs: maybe(Row)((inputs: string) =>
        sql`SELECT digest, package, lock FROM package_images WHERE inputs = ${inputs} ORDER BY created_at DESC LIMIT 1`
      ),
      byDigest: maybe(Row)((digest: string) =>
        sql`SELECT digest, package, lock FROM package_images WHERE digest = ${digest}`
      ),
      put: (row: typeof Row.Type, inputs: string) =>
        run(
          sql`INSERT INTO package_images (digest, inputs, package, lock)
              VALUES (${row.digest}, ${inputs}, ${JSON.stringify(row.package)}::jsonb, ${row.lock})
              ON CONFLICT (digest) DO UPDATE SET inputs = excluded.inputs, created_at = now()`
        ),
      /** Forgets those that no deployment has. */
      forget: run(
        sql`DELETE FROM package_images i WHERE created_at < now() - interval '1 day'
              AND NOT EXISTS (SELECT FROM deployments d WHERE d.image_digest = i.digest)`
      )
    } as const
  })
}) {}
