import { clientLayer } from "#sql/Client.ts"
import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { inject } from "vitest"
import { administer, sourceOf, urlOf } from "./test-database.ts"

/**
 * The URL of a migrated database that nobody else uses, dropped when the scope closes. For tests that start whole
 * processes: hand it over as `DATABASE_URL`.
 */
export const freshDatabaseUrl = Effect.gen(function*() {
  const { template, url } = inject("testServer")
  const name = `test_${randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(
    administer(url, `CREATE DATABASE ${name} TEMPLATE ${template}`),
    () => administer(url, `DROP DATABASE ${name} WITH (FORCE)`)
  )
  return urlOf(url, name)
})

/** `SqlClient` and `PgClient` on a database of its own, made like the real client. */
export const DatabaseTest = Layer.unwrapScoped(
  Effect.map(freshDatabaseUrl, (url) => Layer.orDie(clientLayer(sourceOf(url), 5)))
)
