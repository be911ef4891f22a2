import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { SigningKeys, SigningKeysLive } from "#src/oauth/SigningKeys.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { decodeProtectedHeader } from "jose"
import { DatabaseTest } from "../support/Database.ts"
import { settingsTest } from "../support/Settings.ts"

const below = Secrets.Default.pipe(
  Layer.provideMerge(DatabaseTest),
  Layer.provideMerge(settingsTest({ BASE_URL: "http://berth.test" }))
)

/** A process's own view of the keys, and what it makes and checks with them. */
const process = AccessTokens.Default.pipe(Layer.provideMerge(Layer.fresh(SigningKeysLive)), Layer.build)

const request = { accountId: "a", audience: "http://berth.test/s/x", scope: "mcp:read", clientId: "c" }

/** Moves both clocks: the database's by moving its times back. */
const pass = Effect.fnUntraced(function*(seconds: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE signing_keys SET retired_at = retired_at - ${seconds} * interval '1 second'`
  yield* TestClock.adjust(`${seconds} seconds`)
})

layer(below)("a rotation of signing keys", (it) => {
  it.scoped("publishes the next key first, then signs with it; what the old one signed is accepted for its life", () =>
    Effect.gen(function*() {
      const serving = yield* process
      const { jwks, signing, verifyingKey } = yield* Effect.provide(SigningKeys, serving)
      const tokens = yield* Effect.provide(AccessTokens, serving)
      const { kid: old } = yield* signing
      // `berth admin` is a process of its own.
      const next = yield* Effect.flatMap(
        Effect.flatMap(process, (it) => Effect.provide(SigningKeys, it)),
        ({ rotate }) => rotate
      )
      assert.notStrictEqual(next, old)
      assert.isDefined(
        yield* Effect.zipRight(TestClock.adjust("1 second"), verifyingKey(next)),
        "found when it is named"
      )

      yield* pass(61)
      assert.deepStrictEqual((yield* jwks).keys.map(({ kid }) => kid), [next, old], "both are published")
      assert.strictEqual((yield* signing).kid, old, "whoever keeps the old list can still check what we sign")
      const { token } = yield* tokens.mint(request)
      assert.strictEqual(decodeProtectedHeader(token).kid, old)

      yield* pass(61)
      assert.strictEqual((yield* signing).kid, next)
      assert.strictEqual(decodeProtectedHeader((yield* tokens.mint(request)).token).kid, next)
      const elsewhere = yield* Effect.flatMap(process, (it) => Effect.provide(AccessTokens, it))
      yield* pass(13 * 60)
      assert.strictEqual((yield* elsewhere.verify(token, [request.audience])).sub, "a")

      yield* pass(44 * 60)
      assert.isDefined(yield* verifyingKey(old), "an hour, less the minute that the keys are kept in memory")
      yield* pass(5 * 60)
      assert.isUndefined(yield* verifyingKey(old))
      assert.deepStrictEqual((yield* jwks).keys.map(({ kid }) => kid), [next])
    }))

  it.scoped("may follow another at once: there is always one key that signs, and none is lost", () =>
    Effect.gen(function*() {
      const { jwks, rotate, signing } = yield* Effect.flatMap(process, (it) => Effect.provide(SigningKeys, it))
      const { kid: first } = yield* signing
      yield* pass(1)
      const made = yield* Effect.all([rotate, rotate, rotate], { concurrency: "unbounded" })
      yield* pass(61)
      assert.strictEqual((yield* signing).kid, first)
      assert.includeMembers((yield* jwks).keys.map(({ kid }) => kid), [first, ...made])
      yield* pass(3 * 60)
      assert.include(made, (yield* signing).kid)
      const sql = yield* SqlClient.SqlClient
      const left = yield* sql`SELECT kid FROM signing_keys WHERE retired_at IS NULL`
      assert.strictEqual(left.length, 1)
    }))
})
