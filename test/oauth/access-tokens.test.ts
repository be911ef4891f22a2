import { CurrentSettings } from "#src/config/Settings.ts"
import { AccessTokens, accessTokenSeconds } from "#src/oauth/AccessTokens.ts"
import { SigningKeys } from "#src/oauth/SigningKeys.ts"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Either, Layer, Option, TestClock } from "effect"
import { type CryptoKey, decodeJwt, decodeProtectedHeader, exportSPKI, SignJWT } from "jose"
import { createHmac, generateKeyPairSync, type KeyObject } from "node:crypto"
import { tokensTest } from "../gateway/support.ts"
import { DatabaseTest } from "../support/Database.ts"
import { settingsTest } from "../support/Settings.ts"

const here = "https://berth.test/s/a"
const accepted = [here, "https://a.mcp.test"]
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")

const context = tokensTest.pipe(
  Layer.provideMerge(DatabaseTest),
  Layer.provideMerge(settingsTest({ BASE_URL: "https://berth.test" }))
)

interface Forgery {
  readonly header?: Record<string, unknown>
  readonly claims?: Record<string, unknown>
  readonly key?: CryptoKey | KeyObject
}

/** A good token with something changed, signed by our own key unless another is given. */
const forge = Effect.fnUntraced(function*({ claims, header, key }: Forgery) {
  const signing = yield* (yield* SigningKeys).signing
  const { authUrl } = yield* CurrentSettings
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const payload = {
    iss: authUrl,
    sub: "account",
    aud: here,
    client_id: "client",
    scope: "mcp:read",
    iat: now,
    exp: now + 60,
    jti: "1",
    ...claims
  }
  return yield* Effect.promise(() =>
    new SignJWT(payload).setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: signing.kid, ...header })
      .sign(key ?? signing.key)
  )
})

layer(context)("an access token", (it) => {
  const minted = Effect.flatMap(
    AccessTokens,
    (tokens) => tokens.mint({ accountId: "account", audience: here, scope: "mcp:read mcp:execute", clientId: "client" })
  )

  it.effect("is the JWT of RFC 9068, for one resource and 15 minutes", () =>
    Effect.gen(function*() {
      const { expiresAt, token } = yield* minted
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const { jti, ...claims } = decodeJwt(token)
      assert.match(jti ?? "", /^[0-9A-Z]{26}$/)
      assert.deepStrictEqual(claims, {
        iss: "https://berth.test",
        sub: "account",
        aud: here,
        client_id: "client",
        scope: "mcp:read mcp:execute",
        iat: now,
        exp: now + 900
      })
      const { kid, ...header } = decodeProtectedHeader(token)
      assert.match(kid ?? "", /^[\w-]{43}$/)
      assert.deepStrictEqual(header, { alg: "ES256", typ: "at+jwt" })
      assert.strictEqual(expiresAt.getTime(), (now + accessTokenSeconds) * 1000)
    }))

  it.effect("passes where it is meant for, and nowhere else", () =>
    Effect.gen(function*() {
      const tokens = yield* AccessTokens
      const { token } = yield* minted
      assert.strictEqual((yield* tokens.verify(token, accepted)).sub, "account")
      for (const other of [[], ["https://berth.test/s/b"], [`${here}/`], ["https://berth.test/s/A"]]) {
        assert.isTrue(Either.isLeft(yield* Effect.either(tokens.verify(token, other))), other[0])
      }
    }))

  it.effect("is remembered until it expires, and not a second longer", () =>
    Effect.gen(function*() {
      const tokens = yield* AccessTokens
      const { token } = yield* minted
      assert.isTrue(Option.isNone(tokens.peek(token, accepted, 0)), "nobody verified it yet")
      yield* tokens.verify(token, accepted)
      const now = yield* Clock.currentTimeMillis
      assert.isTrue(Option.isSome(tokens.peek(token, accepted, now)))
      assert.isTrue(Option.isNone(tokens.peek(token, ["https://berth.test/s/b"], now)), "another server's")
      yield* TestClock.adjust("899 seconds")
      yield* tokens.verify(token, accepted)
      yield* TestClock.adjust("1 second")
      assert.isTrue(Option.isNone(tokens.peek(token, accepted, yield* Clock.currentTimeMillis)))
      assert.isTrue(Either.isLeft(yield* Effect.either(tokens.verify(token, accepted))))
    }))

  it.effect("of a revoked family is refused to its last second, also when it was minted a moment later", () =>
    Effect.gen(function*() {
      const tokens = yield* AccessTokens
      yield* tokens.revokeFamily("fam_late")
      yield* TestClock.adjust("5 seconds")
      const { token } = yield* tokens.mint({
        accountId: "account",
        audience: here,
        scope: "mcp:read",
        clientId: "client",
        familyId: "fam_late"
      })
      yield* TestClock.adjust(`${accessTokenSeconds - 1} seconds`)
      // What is remembered too long is dropped when another comes.
      yield* tokens.revokeFamily("fam_other")
      assert.isTrue(Either.isLeft(yield* Effect.either(tokens.verify(token, accepted))))
    }))

  it.effect("that is as it should be passes, so that the forgeries below fail for their one difference", () =>
    Effect.gen(function*() {
      const claims = yield* (yield* AccessTokens).verify(yield* forge({}), accepted)
      assert.strictEqual(claims.client_id, "client")
    }))

  const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey
  const forgeries: Readonly<Record<string, Forgery>> = {
    "for two servers": { claims: { aud: [here, "https://berth.test/s/b"] } },
    "for a list of one": { claims: { aud: [here] } },
    "for nobody": { claims: { aud: undefined } },
    "of another issuer": { claims: { iss: "https://evil.test" } },
    "of an issuer with a slash more": { claims: { iss: "https://berth.test/" } },
    "that has expired": { claims: { exp: -1 } },
    "that never expires": { claims: { exp: undefined } },
    "that is not valid yet": { claims: { nbf: 4_000_000_000 } },
    "without a subject": { claims: { sub: undefined } },
    "with an empty subject": { claims: { sub: "" } },
    "without a client": { claims: { client_id: undefined } },
    "without a scope": { claims: { scope: undefined } },
    "with a list of scopes": { claims: { scope: ["mcp:read"] } },
    "of type JWT (an ID token's)": { header: { typ: "JWT" } },
    "of no type": { header: { typ: undefined } },
    "signed by a stranger under our key's name": { key: stranger },
    "signed by a stranger under a name of his own": { key: stranger, header: { kid: "mine" } },
    "that names no key": { header: { kid: undefined } },
    "signed with RSA": { key: rsa, header: { alg: "RS256" } },
    "with a critical extension nobody knows": { header: { crit: ["x"], x: 1 } }
  }
  for (const [name, forgery] of Object.entries(forgeries)) {
    it.effect(`${name} is refused`, () =>
      Effect.gen(function*() {
        const tokens = yield* AccessTokens
        const token = yield* Effect.catchAllDefect(forge(forgery), () => handMade(forgery))
        assert.isTrue(Either.isLeft(yield* Effect.either(tokens.verify(token, accepted))))
      }))
  }

  /** What jose itself will not sign. */
  const handMade = Effect.fnUntraced(function*({ claims, header }: Forgery) {
    const { kid } = yield* (yield* SigningKeys).signing
    const good = decodeJwt(yield* forge({}))
    const head = base64({ alg: "ES256", typ: "at+jwt", kid, ...header })
    return `${head}.${base64({ ...good, ...claims })}.${"A".repeat(86)}`
  })

  it.effect("without a signature (alg none) is refused", () =>
    Effect.gen(function*() {
      const tokens = yield* AccessTokens
      const { kid } = yield* (yield* SigningKeys).signing
      const payload = base64(decodeJwt(yield* forge({})))
      for (const alg of ["none", "None", "NONE", ""]) {
        const token = `${base64({ alg, typ: "at+jwt", kid })}.${payload}.`
        assert.isTrue(Either.isLeft(yield* Effect.either(tokens.verify(token, accepted))), alg)
      }
    }))

  it.effect("whose HMAC was made with our public key (algorithm confusion) is refused", () =>
    Effect.gen(function*() {
      const tokens = yield* AccessTokens
      const keys = yield* SigningKeys
      const { kid } = yield* keys.signing
      const publicKey = (yield* keys.verifyingKey(kid))!
      const payload = base64(decodeJwt(yield* forge({})))
      const secrets = [yield* Effect.promise(() => exportSPKI(publicKey)), JSON.stringify((yield* keys.jwks).keys[0])]
      for (const secret of secrets) {
        const signed = `${base64({ alg: "HS256", typ: "at+jwt", kid })}.${payload}`
        const token = `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`
        assert.isTrue(Either.isLeft(yield* Effect.either(tokens.verify(token, accepted))))
      }
    }))

  it.effect("that was altered in any character is refused", () =>
    Effect.gen(function*() {
      const tokens = yield* AccessTokens
      const { token } = yield* minted
      for (let at = 0; at < token.length - 1; at += 7) {
        const altered = `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`
        assert.isTrue(Either.isLeft(yield* Effect.either(tokens.verify(altered, accepted))), String(at))
      }
      for (const junk of ["", ".", "..", "a.b.c", `${token}.x`, token.slice(0, -1), "\u0000", "x".repeat(100_000)]) {
        assert.isTrue(Either.isLeft(yield* Effect.either(tokens.verify(junk, accepted))), junk.slice(0, 20))
      }
    }))
})
