import { clientLayer } from "#sql/Client.ts"
import { migrate } from "#sql/Migrate.ts"
import { migrations } from "#sql/migrations.ts"
import { SecretKeys } from "#src/operations/SecretKeys.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { DatabaseTest, emptyDatabaseUrl } from "../support/Database.ts"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"

const oldKey = randomBytes(32).toString("base64")
const newKey = randomBytes(32).toString("base64")

const withKeys = (variables: Readonly<Record<string, string>>) =>
  Layer.provideMerge(SecretKeys.Default, Layer.provide(Secrets.Default, settingsTest(variables)))
const check = (variables: Readonly<Record<string, string>>) =>
  Effect.flatMap(SecretKeys, (keys) => keys.check).pipe(Effect.provide(withKeys(variables)))
const checkAgainstService = (variables: Readonly<Record<string, string>>) =>
  Effect.flatMap(SecretKeys, (keys) => keys.checkAgainstService).pipe(Effect.provide(withKeys(variables)))
const idOf = (variables: Readonly<Record<string, string>>) =>
  Effect.map(Secrets, ({ keyId }) => keyId).pipe(Effect.provide(withKeys(variables)))

const old = { SECRET_KEY: oldKey }
const wrong = { SECRET_KEY: newKey }
const rotated = { SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: oldKey }

describe("a start", () => {
  it.effect("with another key than the one that secrets are sealed with is refused, and says what to set", () =>
    Effect.gen(function*() {
      yield* check(old)
      const error = yield* Effect.flip(check(wrong))
      assert.strictEqual(error._tag, "SettingError")
      const [before, now] = [yield* idOf(old), yield* idOf(wrong)]
      assert.strictEqual(
        error.message,
        `Stored secrets are sealed with the key ${before}, but SECRET_KEY is the key ${now}: set SECRET_KEY to the key ` +
          `${before}, or SECRET_KEY_PREVIOUS to it beside the new one`
      )
      yield* check(old)
    }).pipe(Effect.provide(DatabaseTest)))

  it.effect("takes a new key beside the one before, and from then on needs both", () =>
    Effect.gen(function*() {
      yield* check(old)
      yield* check(rotated)
      assert.include((yield* Effect.flip(check(wrong))).message, yield* idOf(old))
      assert.include((yield* Effect.flip(check(old))).message, yield* idOf(wrong))
      yield* check({ SECRET_KEY: oldKey, SECRET_KEY_PREVIOUS: newKey })
      yield* Effect.flatMap(SecretKeys, (keys) => keys.forgetOthers).pipe(Effect.provide(withKeys(rotated)))
      yield* check(wrong)
    }).pipe(Effect.provide(DatabaseTest)))

  it.effect("whose made key was lost names the file, and leaves no other key there", () =>
    Effect.gen(function*() {
      const home = temporaryDirectory()
      const file = join(home, "secret.key")
      yield* check({ BERTH_HOME: home })
      yield* check({ BERTH_HOME: home })
      rmSync(file)
      assert.include((yield* Effect.flip(check({ BERTH_HOME: home }))).message, `but ${file} is missing: `)
      assert.isFalse(existsSync(file))
    }).pipe(Effect.provide(DatabaseTest)))

  it.effect("does not trust the id alone: the key must open what the id's key sealed", () =>
    Effect.gen(function*() {
      yield* check(old)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE secret_keys SET proof = left(proof, -4) || 'AAAA'`
      assert.strictEqual((yield* Effect.flip(check(old)))._tag, "SettingError")
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("of this version on an older database knows what that one was sealed with", () =>
    Effect.gen(function*() {
      const database = clientLayer(Redacted.make(yield* emptyDatabaseUrl), 3)
      const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0009"))
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* migrate(before)
        const sealed = yield* Effect.flatMap(Secrets, (secrets) => secrets.seal("jwk", "signing key k")).pipe(
          Effect.provide(withKeys(old))
        )
        yield* sql`INSERT INTO signing_keys (kid, public_jwk, sealed_private_jwk) VALUES ('k', '{}', ${sealed})`
      }).pipe(Effect.provide(database))
      yield* Effect.gen(function*() {
        yield* migrate(migrations)
        assert.include((yield* Effect.flip(check(wrong))).message, yield* idOf(old))
        yield* check(old)
      }).pipe(Effect.provide(database))
    }).pipe(Effect.provide(DatabaseTest)))
})

describe("a command that seals beside a service", () => {
  const serving = (keyId: string) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) =>
        sql`INSERT INTO hosts VALUES ('host_1', 's', 'h', 1, '1', 'b', 'n', ARRAY[${keyId}], now(), now() + interval '1 minute')`
    )

  it.effect("is refused when the service would not be able to open it", () =>
    Effect.gen(function*() {
      yield* check(old)
      yield* serving(yield* idOf(old))
      yield* checkAgainstService(old)
      const { message } = yield* Effect.flip(checkAgainstService(rotated))
      assert.include(message, "restart it with this one first")
      assert.include(message, yield* idOf(old))
    }).pipe(Effect.provide(DatabaseTest)))
})
