import { Secrets } from "#src/shared/Secrets.ts"
import { Clock, Duration, Effect, Redacted, Schema } from "effect"
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK } from "jose"
import { PublicJwk, type SigningKeyRow, SigningKeysRepo } from "./SigningKeysRepo.ts"

/** What a sealed private key is bound to. */
const contextOf = (kid: string) => `signing key ${kid}`

/** A rotation elsewhere is noticed by then; a token with an unknown key asks at most once a second. */
const refreshAfter = Duration.toMillis("1 minute")
const askAgainAfter = Duration.toMillis("1 second")

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
 * The ES256 keys that sign access tokens. The first is made when one is first needed; the newest that is not retired
 * signs, and a retired one goes on verifying for an hour, so that keys can overlap.
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
    })

    const active = (rows: ReadonlyArray<SigningKeyRow>) => rows.find((row) => row.retiredAt === null)

    /** Two processes that start together make one key: the second finds the first one's under the lock. */
    const rowsWithOne = Effect.gen(function*() {
      const rows = yield* repo.known
      if (active(rows) !== undefined) return rows
      yield* repo.alone(Effect.flatMap(repo.known, (now) => active(now) === undefined ? make : Effect.void))
      return yield* repo.known
    })

    const read = Effect.gen(function*() {
      const rows = yield* rowsWithOne
      const newest = active(rows)!
      const text = yield* Effect.orDie(secrets.open(newest.sealedPrivateJwk, contextOf(newest.kid)))
      const verifying = yield* Effect.forEach(
        rows,
        ({ kid, publicJwk }) => Effect.map(imported(publicJwk), (key) => [kid, key] as const)
      )
      return {
        readAt: yield* Clock.currentTimeMillis,
        signing: { kid: newest.kid, key: yield* imported(JSON.parse(text)) },
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

    return {
      /** The key that signs now. */
      signing: Effect.map(fresh, ({ signing }) => signing),
      verifyingKey,
      /** The public keys as `{ keys }` (RFC 7517 §5): one at least. */
      jwks: Effect.map(fresh, ({ jwks }) => jwks)
    } as const
  })
}) {}
