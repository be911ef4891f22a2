import { clientLayer } from "#sql/Client.ts"
import { Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { inject } from "vitest"
import { administer, urlOf } from "./test-database.ts"

const database = (template: Effect.Effect<string>) =>
  Effect.gen(function*() {
    const { url } = inject("testServer")
    const name = `test_${randomUUID().replaceAll("-", "")}`
    yield* Effect.acquireRelease(
      administer(url, `CREATE DATABASE ${name} TEMPLATE ${yield* template} STRATEGY FILE_COPY`),
      () => administer(url, `DROP DATABASE ${name} WITH (FORCE)`)
    )
    return urlOf(url, name)
  })

/**
 * The URL of a migrated database that nobody else uses, dropped when the scope closes. For tests that start whole
 * processes: hand it over as `DATABASE_URL`.
 */
export const freshDatabaseUrl = database(Effect.sync(() => inject("testServer").template))

/** The same without a migration having run. */
export const emptyDatabaseUrl = database(Effect.succeed("template0"))

/** `SqlClient` and `PgClient` on a database of its own, made like the real client. */
export const DatabaseTest = Layer.unwrapScoped(
  Effect.map(freshDatabaseUrl, (url) => Layer.orDie(clientLayer(Redacted.make(url), 5)))
)
