import { sealedColumn } from "#src/shared/sealed-column.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { Clock, Duration, Effect, Layer, Redacted, Schema } from "effect"
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK } from "jose"
import { PublicJwk, type SigningKeyRow, SigningKeysRepo } from "./SigningKeysRepo.ts"

export const sealedPrivateKeys = sealedColumn("signing_keys", "sealed_private_jwk")

/** What a sealed private key is bound to. */
const contextOf = (kid: string) => `signing key ${kid}`

/** How soon a rotation by another process is noticed; an unknown key id causes at most one read a second. */
const refreshAfter = Duration.toMillis("1 minute")
const rereadAfter = Duration.toMillis("1 second")

/** A new key is published this long before it signs, so that caches of our JWKS (one minute) have it by then. */
const publishedAheadSeconds = 120

const importKey = (jwk: object) =>
  Effect.map(Effect.promise(() => importJWK({ ...jwk, alg: "ES256" })), (key) => key as CryptoKey)

const generateKey = Effect.promise(async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true })
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  return { kid, publicJwk: { ...jwk, kid, alg: "ES256", use: "sig" }, privateJwk: await exportJWK(privateKey) }
})

interface KeySet {
  readonly readAt: number
  readonly signing: { readonly kid: string; readonly key: CryptoKey }
  readonly verifying: ReadonlyMap<string, CryptoKey>
  readonly jwks: { readonly keys: ReadonlyArray<PublicJwk> }
}

/**
 * The ES256 keys that sign access tokens. The first is made when one is first needed. The oldest that is not retired
 * signs; a retired one still verifies for an hour, so that keys overlap at both ends.
 */
export class SigningKeys extends Effect.Service<SigningKeys>()("oauth/SigningKeys", {
  effect: Effect.gen(function*() {
    const repo = yield* SigningKeysRepo
    const secrets = yield* Secrets
    const readLock = yield* Effect.makeSemaphore(1)
    let cached: KeySet | undefined

    const make = Effect.gen(function*() {
      const { kid, privateJwk, publicJwk } = yield* generateKey
      const sealedPrivateJwk = yield* secrets.seal(Redacted.make(JSON.stringify(privateJwk)), contextOf(kid))
      yield* repo.insert({ kid, publicJwk: Schema.decodeUnknownSync(PublicJwk)(publicJwk), sealedPrivateJwk })
      yield* Effect.logInfo(`Made the key ${kid} that signs access tokens`)
      return kid
    })

    /** Rows come newest first. */
    const active = (rows: ReadonlyArray<SigningKeyRow>) => rows.findLast((row) => !row.retired)

    /** Two processes that start together make one key: under the lock the second one finds the first one's. */
    const rowsWithActive = Effect.gen(function*() {
      const rows = yield* repo.usable
      if (active(rows) !== undefined) return rows
      yield* repo.exclusively(
        Effect.flatMap(repo.usable, (current) => active(current) === undefined ? Effect.asVoid(make) : Effect.void)
      )
      return yield* repo.usable
    })

    const read = Effect.gen(function*() {
      const rows = yield* rowsWithActive
      const signing = active(rows)!
      const text = yield* Effect.orDie(secrets.open(signing.sealedPrivateJwk, contextOf(signing.kid)))
      const verifying = yield* Effect.forEach(
        rows,
        ({ kid, publicJwk }) => Effect.map(importKey(publicJwk), (key) => [kid, key] as const)
      )
      return {
        readAt: yield* Clock.currentTimeMillis,
        signing: { kid: signing.kid, key: yield* importKey(JSON.parse(text)) },
        verifying: new Map(verifying),
        jwks: { keys: rows.map((row) => row.publicJwk) }
      } satisfies KeySet
    })

    const noOlderThan = (age: number) =>
      readLock.withPermits(1)(Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        if (cached !== undefined && now - cached.readAt < age) return cached
        // While the database is unavailable, the cached keys stay in use.
        const stale = cached
        return cached = yield* stale === undefined ? read : Effect.catchAllDefect(read, () => Effect.succeed(stale))
      }))

    const fresh = noOlderThan(refreshAfter)

    /** The key that a token names, or undefined when there is none. */
    const verifyingKey = Effect.fnUntraced(function*(kid: string) {
      const key = (yield* fresh).verifying.get(kid)
      return key ?? (yield* noOlderThan(rereadAfter)).verifying.get(kid)
    })

    /**
     * Makes the next key. It is published at once and signs after two minutes, when the older ones retire; their
     * signatures are accepted for another hour. Returns the next key's id.
     */
    const rotate = repo.exclusively(Effect.tap(make, (kid) => repo.retireOthers(kid, publishedAheadSeconds))).pipe(
      Effect.withSpan("SigningKeys.rotate")
    )

    return {
      rotate,
      /** The key that signs now. */
      signing: Effect.map(fresh, ({ signing }) => signing),
      verifyingKey,
      /** The public keys as `{ keys }` (RFC 7517 §5), at least one. */
      jwks: Effect.map(fresh, ({ jwks }) => jwks)
    } as const
  })
}) {}

/** With its repository. Needs the database and `Secrets`. */
export const SigningKeysLive = Layer.provide(SigningKeys.Default, SigningKeysRepo.Default)
