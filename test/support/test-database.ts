import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"

/** What the global set-up hands to the workers. */
export interface TestServer {
  /** A URL of the server's maintenance database, with rights to make databases. */
  readonly url: string
  /** The migrated database that each test's own is cloned from. */
  readonly template: string
}

declare module "vitest" {
  interface ProvidedContext {
    readonly testServer: TestServer
  }
}

export const urlOf = (server: string, database: string) => {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

/** Runs statements that no transaction may hold (CREATE DATABASE), each on its own. */
export const administer = (server: string, ...statements: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return yield* Effect.forEach(statements, (statement) => sql.unsafe<Record<string, unknown>>(statement))
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(server), maxConnections: 1 })), Effect.orDie)
