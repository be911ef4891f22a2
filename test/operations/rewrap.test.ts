import { Rewrap, sealedColumns } from "#src/operations/Rewrap.ts"
import { SecretKeys } from "#src/operations/SecretKeys.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { DatabaseTest } from "../support/Database.ts"
import { full, long } from "../support/needs.ts"
import { settingsTest } from "../support/Settings.ts"

const oldKey = randomBytes(32).toString("base64")
const newKey = randomBytes(32).toString("base64")

const secretsWith = (variables: Readonly<Record<string, string>>) =>
  Layer.provide(Secrets.Default, settingsTest(variables))

const rewrapWith = (secrets: ReturnType<typeof secretsWith>) =>
  Rewrap.Default.pipe(Layer.provide(SecretKeys.Default), Layer.provide(secrets))

const seeded = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* Secrets
  yield* sql`INSERT INTO users (id, email, password_hash) VALUES ('u', 'u@example.com', '')`
  yield* sql`INSERT INTO projects (id, account_id, name, slug) VALUES ('p', 'u', 'P', 'p')`
  yield* sql`INSERT INTO slugs (slug, account_id) VALUES ('s', 'u')`
  yield* sql`INSERT INTO servers (id, project_id, name, slug, region, cpu, memory_mb, health_path,
      health_timeout_seconds, rollback_on_health_check_failure, deployment_retention_count, replay_token)
    VALUES ('srv', 'p', 'S', 's', 'ord', 'shared-1x', 256, '/', 30, true, 10, 't')`
  for (let n = 0; n < 1100; n++) {
    const sealed = yield* secrets.seal(`value ${n}`, `env ${n}`)
    yield* sql`INSERT INTO environment_variables (id, server_id, name, sealed_value)
      VALUES (${`e${n}`}, 'srv', ${`N${n}`}, ${sealed})`
  }
  const answer = yield* secrets.seal("answer", "idempotency")
  yield* sql`INSERT INTO idempotency_keys (account_id, key, request_hash, sealed_response)
    VALUES ('u', 'k', ${Buffer.from("h")}, ${answer}), ('u', 'running', ${Buffer.from("h")}, NULL)`
  const integrations = yield* secrets.seal("{}", "business b integrations")
  yield* sql`INSERT INTO businesses (id, project_id, name, slug, industry, template_type, sealed_integrations)
    VALUES ('b', 'p', 'B', 'b', 'custom', 'custom', ${integrations})`
  const replaced = yield* secrets.seal("value before", "env replaced")
  yield* sql`INSERT INTO replaced_variables (id, server_id, name, sealed_value) VALUES ('r', 'srv', 'N', ${replaced})`
  const password = yield* secrets.seal("pass", "registry r password")
  yield* sql`INSERT INTO image_registries (id, account_id, host, name, username, sealed_password)
    VALUES ('r', 'u', 'ghcr.io', 'ghcr.io', 'u', ${password})`
  const jwk = yield* secrets.seal("private", "key")
  yield* sql`INSERT INTO signing_keys (kid, public_jwk, sealed_private_jwk) VALUES ('kid', '{}', ${jwk})`
})

describe("berth admin rewrap", () => {
  it.effect("knows every column of the schema that holds sealed values", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'public' AND column_name LIKE 'sealed%'`
      assert.sameMembers(
        rows.map(({ columnName, tableName }) => `${tableName}.${columnName}`),
        sealedColumns.map(({ column, table }) => `${table}.${column}`)
      )
    }).pipe(Effect.provide(DatabaseTest)))

  it.effect.skipIf(!full)(
    long("moves every value to the current key, after which the previous one is not needed"),
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* Effect.provide(seeded, secretsWith({ SECRET_KEY: oldKey }))
        const rotated = secretsWith({ SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: oldKey })
        const run = Effect.flatMap(Rewrap, (rewrap) => rewrap.all).pipe(
          Effect.provide(rewrapWith(rotated))
        )
        assert.deepStrictEqual((yield* run).map(({ moved }) => moved), [1, 1100, 1, 1, 1, 1])
        assert.deepStrictEqual((yield* run).map(({ moved }) => moved), [0, 0, 0, 0, 0, 0])

        const opened = yield* Effect.gen(function*() {
          const secrets = yield* Secrets
          const rows = yield* sql`SELECT name, sealed_value FROM environment_variables ORDER BY name`
          return yield* Effect.forEach(
            rows,
            ({ name, sealedValue }) => secrets.open(String(sealedValue), `env ${String(name).slice(1)}`)
          )
        }).pipe(Effect.provide(secretsWith({ SECRET_KEY: newKey })))
        assert.lengthOf(opened, 1100)
        assert.include(opened, "value 1099")
      }).pipe(Effect.provide(DatabaseTest)),
    30_000
  )

  it.effect(
    "stops with the name of the setting to set when the previous key is not known",
    () =>
      Effect.gen(function*() {
        yield* Effect.provide(seeded, secretsWith({ SECRET_KEY: oldKey }))
        const only = rewrapWith(secretsWith({ SECRET_KEY: newKey }))
        const error = yield* Effect.flatMap(Rewrap, (rewrap) => rewrap.all).pipe(Effect.provide(only), Effect.flip)
        assert.include(error.message, "SECRET_KEY_PREVIOUS")
      }).pipe(Effect.provide(DatabaseTest)),
    30_000
  )
})
