import { jwks } from "#http/api/oauth/jwks.ts"
import { SigningKeys } from "#src/oauth/SigningKeys.ts"
import { SigningKeysRepo } from "#src/oauth/SigningKeysRepo.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema, TestClock } from "effect"
import { DatabaseTest } from "../support/Database.ts"
import { settingsTest } from "../support/Settings.ts"

const below = Layer.mergeAll(SigningKeysRepo.Default, Secrets.Default).pipe(
  Layer.provideMerge(DatabaseTest),
  Layer.provideMerge(settingsTest())
)

/** A process's own view of the keys. */
const process = Effect.provide(SigningKeys, Layer.fresh(SigningKeys.Default))

layer(below)("signing keys", (it) => {
  it.effect("are made once, whoever starts at the same time, and sealed at rest", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const processes = yield* Effect.all(Array.from({ length: 8 }, () => process))
      const kids = yield* Effect.forEach(processes, (keys) => keys.signing, { concurrency: "unbounded" })
      assert.strictEqual(new Set(kids.map(({ kid }) => kid)).size, 1)
      const rows = yield* sql<{ readonly sealedPrivateJwk: string; readonly publicJwk: object }>`
        SELECT sealed_private_jwk, public_jwk FROM signing_keys`
      assert.strictEqual(rows.length, 1)
      assert.match(rows[0]!.sealedPrivateJwk, /^v1\./)
      assert.notProperty(rows[0]!.publicJwk, "d")
    }))

  it.effect("are published without their private half", () =>
    Effect.gen(function*() {
      const keys = yield* process
      const response = yield* Effect.flatten(Effect.provideService(jwks, SigningKeys, keys))
      const body = response.body._tag === "Uint8Array" ? new TextDecoder().decode(response.body.body) : ""
      const document = yield* Schema.decodeUnknown(
        Schema.parseJson(
          Schema.Struct({ keys: Schema.Array(Schema.Record({ key: Schema.String, value: Schema.String })) })
        )
      )(body)
      const { kid } = yield* keys.signing
      assert.strictEqual(document.keys[0]?.["kid"], kid)
      assert.hasAllKeys(document.keys[0], ["kty", "crv", "x", "y", "kid", "alg", "use"])
      assert.strictEqual(response.headers["content-type"], "application/jwk-set+json")
    }))

  it.effect("overlap when they are rotated: a retired one verifies, the next one signs", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* process
      const { kid: old } = yield* keys.signing
      yield* sql`UPDATE signing_keys SET retired_at = now()`
      yield* TestClock.adjust("61 seconds")
      const { kid: next } = yield* keys.signing
      assert.notStrictEqual(next, old)
      assert.isDefined(yield* keys.verifyingKey(old))
      assert.deepStrictEqual(new Set((yield* keys.jwks).keys.map(({ kid }) => kid)), new Set([old, next]))
      yield* sql`UPDATE signing_keys SET retired_at = now() - interval '2 hours' WHERE kid = ${old}`
      yield* TestClock.adjust("61 seconds")
      assert.isUndefined(yield* keys.verifyingKey(old))
    }))

  it.effect("made by another process are found when a token names them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const here = yield* process
      yield* here.signing
      yield* sql`UPDATE signing_keys SET retired_at = now()`
      const { kid } = yield* Effect.flatMap(process, (there) => there.signing)
      assert.isUndefined(yield* here.verifyingKey(kid), "asked within the second, it does not ask the database")
      yield* TestClock.adjust("1 second")
      assert.isDefined(yield* here.verifyingKey(kid))
    }))

  it.effect("that are known go on serving while the database is away", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* process
      const { kid } = yield* keys.signing
      yield* sql`ALTER TABLE signing_keys RENAME TO hidden`
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* keys.signing).kid, kid)
      yield* sql`ALTER TABLE hidden RENAME TO signing_keys`
    }))
})
