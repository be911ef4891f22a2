import { CurrentSettings } from "#src/config/Settings.ts"
import { anyRow, many, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { join } from "node:path"
import { makeStore } from "./Store.ts"

/** Who pulls an image: which blobs its account has shown to have. */
export interface Holder {
  readonly holds: (digest: string) => Effect.Effect<boolean>
  readonly received: (digest: string) => Effect.Effect<void>
}

/**
 * Which accounts have shown that they have a blob's bytes: they uploaded them, or their registry sent them. The store
 * has each blob once, and a digest alone must not give it to somebody who merely knows it (docs/decisions/uploads.md).
 */
export class HeldBlobs extends Effect.Service<HeldBlobs>()("images/HeldBlobs", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { home } = yield* CurrentSettings
    const store = makeStore(join(home, "images"))
    const known = many(Schema.Struct({ digest: Schema.String }).pipe(Schema.pluck("digest")))(() =>
      sql`SELECT DISTINCT digest FROM held_blobs`
    )
    const received = (accountId: string, digest: string) =>
      // The account may be deleted meanwhile.
      run(sql`INSERT INTO held_blobs (account_id, digest) SELECT id, ${digest} FROM users WHERE id = ${accountId}
              ON CONFLICT DO NOTHING`)
    return {
      received,
      of: (accountId: string): Holder => ({
        holds: (digest) => anyRow(sql`SELECT 1 FROM held_blobs WHERE account_id = ${accountId} AND digest = ${digest}`),
        received: (digest) => received(accountId, digest)
      }),
      /** Drops what the store no longer has: whoever pulls it again receives it anew. */
      forget: Effect.gen(function*() {
        const gone = yield* Effect.filter(
          yield* known(),
          (digest) => Effect.map(store.size(digest), (size) => size === undefined)
        )
        if (gone.length > 0) yield* run(sql`DELETE FROM held_blobs WHERE ${sql.in("digest", gone)}`)
      })
    } as const
  })
}) {}
