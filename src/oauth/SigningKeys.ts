import { sealedColumn } from "#src/shared/sealed-column.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { Clock, Duration, Effect, Layer, Redacted, Schema } from "effect"
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK } from "jose"
import { PublicJwk, type SigningKeyRow, SigningKeysRepo } from "./SigningKeysRepo.ts"

export const sealedPrivateKeys = sealedColumn("signing_keys", "sealed_private_jwk")

/** What a sealed private key is bound to. */
const contextOf = (kid: string) => `signing key ${kid}`

/** A rotation elsewhere is noticed by then; a token with an unknown key asks at most once a second. */
const refreshAfter = Duration.toMillis("1 minute")
const askAgainAfter = Duration.toMillis("1 second")

/** A next key is published that long before it signs: who keeps our keys for a minute (jwks) knows it by then. */
const publishedAheadSeconds = 120

const imported = (jwk: object) =>
  Effect.map(Effect.promise(() => importJWK({ ...jwk, alg: "ES256" })), (key) => key as CryptoKey)

const generated = Effect.promise(async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true })
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  return { kid, publicJwk: { ...jwk, kid, alg: "ES256", use: "sig" }, privateJwk: await exportJWK(privateKey) }
})

interface Known {
  readonly readAt: number
  readonly signing: { readonly kid: string; readonly key: CryptoKey }
  readonly verifying: ReadonlyMap<string, CryptoKey>
  readonly jwks: { readonly keys: ReadonlyArray<PublicJwk> }
}

/**
 * The ES256 keys that sign access tokens. The first is made when one is first needed; the oldest that is not retired
 * signs, and a retired one goes on verifying for an hour, so that keys overlap at both ends.
 */
export class SigningKeys extends Effect.Service<SigningKeys>()("oauth/SigningKeys", {
  effect: Effect.gen(function*() {
    const repo = yield* SigningKeysRepo
    const secrets = yield* Secrets
    const single = yield* Effect.makeSemaphore(1)
    let known: Known | undefined

    const make = Effect.gen(function*() {
      const { kid, privateJwk, publicJwk } = yield* generated
      const sealedPrivateJwk = yield* secrets.seal(Redacted.make(JSON.stringify(privateJwk)), contextOf(kid))
      yield* repo.insert({ kid, publicJwk: Schema.decodeUnknownSync(PublicJwk)(publicJwk), sealedPrivateJwk })
      yield* Effect.logInfo(`Made the key ${kid} that signs access tokens`)
      return kid
    })

    /** Rows come newest first. */
    const active = (rows: ReadonlyArray<SigningKeyRow>) => rows.findLast((row) => !row.retired)

    /** Two processes that start together make one key: the second finds the first one's under the lock. */
    const rowsWithOne = Effect.gen(function*() {
      const rows = yield* repo.known
      if (active(rows) !== undefined) return rows
      yield* repo.alone(
        Effect.flatMap(repo.known, (now) => active(now) === undefined ? Effect.asVoid(make) : Effect.void)
      )
      return yield* repo.known
    })

    const read = Effect.gen(function*() {
      const rows = yield* rowsWithOne
      const signing = active(rows)!
      const text = yield* Effect.orDie(secrets.open(signing.sealedPrivateJwk, contextOf(signing.kid)))
      const verifying = yield* Effect.forEach(
        rows,
        ({ kid, publicJwk }) => Effect.map(imported(publicJwk), (key) => [kid, key] as const)
      )
      return {
        readAt: yield* Clock.currentTimeMillis,
        signing: { kid: signing.kid, key: yield* imported(JSON.parse(text)) },
        verifying: new Map(verifying),
        jwks: { keys: rows.map((row) => row.publicJwk) }
      } satisfies Known
    })

    const noOlderThan = (age: number) =>
      single.withPermits(1)(Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        if (known !== undefined && now - known.readAt < age) return known
        // While the database is away, the keys that are known go on serving.
        const stale = known
        return known = yield* stale === undefined ? read : Effect.catchAllDefect(read, () => Effect.succeed(stale))
      }))

    const fresh = noOlderThan(refreshAfter)

    /** The key that a token names, or undefined when we have none such. */
    const verifyingKey = Effect.fnUntraced(function*(kid: string) {
      const key = (yield* fresh).verifying.get(kid)
      return key ?? (yield* noOlderThan(askAgainAfter)).verifying.get(kid)
    })

    /**
     * Makes the next key. It is published at once and signs in two minutes, when those before it retire; what they
     * signed goes on being accepted for an hour. Answers with the next key's id.
     */
    const rotate = repo.alone(Effect.tap(make, (kid) => repo.retireOthers(kid, publishedAheadSeconds))).pipe(
      Effect.withSpan("SigningKeys.rotate")
    )

    return {
      rotate,
      /** The key that signs now. */
      signing: Effect.map(fresh, ({ signing }) => signing),
      verifyingKey,
      /** The public keys as `{ keys }` (RFC 7517 §5): one at least. */
      jwks: Effect.map(fresh, ({ jwks }) => jwks)
    } as const
  })
}) {}

/** With its table. Needs the database and what seals. */
export const SigningKeysLive = Layer.provide(SigningKeys.Default, SigningKeysRepo.Default)
