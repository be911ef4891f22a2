import { CurrentSettings } from "#src/config/Settings.ts"
import { newUlid } from "#src/shared/ids.ts"
import { messageOf } from "#src/shared/message-of.ts"
import { Clock, Data, Effect, Option, Schema } from "effect"
import { decodeProtectedHeader, jwtVerify, SignJWT } from "jose"
import { ClaimsCache } from "./claims-cache.ts"
import { RevokedFamilies } from "./revoked-families.ts"
import { SigningKeys } from "./SigningKeys.ts"

/** RFC 9068 §2.2. `aud` is one string: a token is for one resource and no other. */
export const AccessTokenClaims = Schema.Struct({
  iss: Schema.String,
  sub: Schema.String.pipe(Schema.minLength(1)),
  aud: Schema.String,
  client_id: Schema.String.pipe(Schema.minLength(1)),
  scope: Schema.String,
  iat: Schema.Int,
  exp: Schema.Int,
  jti: Schema.String,
  /** Ours: the family of tokens it belongs to. An owner's test token belongs to none. */
  fam: Schema.optionalWith(Schema.String, { exact: true }),
  /** Ours: the id of the hosted server it is for. A URL can come to be another server's; an id can't. */
  srv: Schema.optionalWith(Schema.String, { exact: true })
})
export type AccessTokenClaims = typeof AccessTokenClaims.Type

/** The token is not one to accept. The reason is for the log; callers are told `invalid_token` and no more. */
export class InvalidToken extends Data.TaggedError("InvalidToken")<{ readonly reason: string }> {}

export interface MintRequest {
  /** The account that the token speaks for. */
  readonly accountId: string
  /** The one resource URL the token is for. */
  readonly audience: string
  /** Space-separated. */
  readonly scope: string
  readonly clientId: string
  /** What the token is revoked with. */
  readonly familyId?: string
  /** The hosted server that the resource is; left out for our own door. */
  readonly serverId?: string
}

/** Access tokens live this long (contract: Hosted servers). */
export const accessTokenSeconds = 15 * 60

/** A revocation is remembered for longer: what was under way when it came may have minted one more. */
export const revocationSeconds = accessTokenSeconds + 60

const invalid = (reason: string) => new InvalidToken({ reason })
const parseHeader = (token: string) => Effect.try(() => decodeProtectedHeader(token))
const decodeClaims = Schema.decodeUnknown(AccessTokenClaims)

/** Makes and checks RFC 9068 access tokens: ES256 JWTs of type `at+jwt`. */
export class AccessTokens extends Effect.Service<AccessTokens>()("oauth/AccessTokens", {
  effect: Effect.gen(function*() {
    const keys = yield* SigningKeys
    const { authUrl } = yield* CurrentSettings
    const verified = new ClaimsCache<AccessTokenClaims>(10_000)
    const revoked = new RevokedFamilies(revocationSeconds * 1000)

    const mint = Effect.fn("AccessTokens.mint")(function*(request: MintRequest) {
      const { key, kid } = yield* keys.signing
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const expires = now + accessTokenSeconds
      const { accountId, audience, clientId, familyId, scope, serverId } = request
      const ours = {
        ...(familyId === undefined ? {} : { fam: familyId }),
        ...(serverId === undefined ? {} : { srv: serverId })
      }
      const token = yield* Effect.promise(() =>
        new SignJWT({ client_id: clientId, scope, ...ours })
          .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid })
          .setIssuer(authUrl).setSubject(accountId).setAudience(audience)
          .setIssuedAt(now).setExpirationTime(expires).setJti(newUlid())
          .sign(key)
      )
      return { token, expiresAt: new Date(expires * 1000) }
    })

    const check = Effect.fn("AccessTokens.check")(function*(token: string) {
      const { kid } = yield* Effect.mapError(parseHeader(token), () => invalid("it is no JWT"))
      const key = kid === undefined ? undefined : yield* keys.verifyingKey(kid)
      if (key === undefined) return yield* invalid("no key of ours signed it")
      const now = yield* Clock.currentTimeMillis
      const { payload } = yield* Effect.tryPromise({
        try: () =>
          jwtVerify(token, key, { algorithms: ["ES256"], typ: "at+jwt", issuer: authUrl, currentDate: new Date(now) }),
        catch: (error) => invalid(messageOf(error))
      })
      const claims = yield* Effect.mapError(decodeClaims(payload), (error) => invalid(error.message))
      verified.put(token, claims, claims.exp * 1000)
      return claims
    })

    /** The claims of a token that was checked before and has not expired; costs a look into a map. */
    const remembered = (token: string, now: number) => verified.get(token, now)

    const isFor = ({ srv }: AccessTokenClaims, serverId: string | undefined) =>
      serverId === undefined || srv === serverId

    /**
     * Checks everything: our signature, type, issuer, times, that the audience equals one of `audiences`, and that it
     * was made for the hosted server `serverId`, if that is given. No leeway for clocks: the clock that minted is our
     * own.
     */
    const verify = Effect.fn("AccessTokens.verify")(
      function*(token: string, audiences: ReadonlyArray<string>, serverId?: string) {
        const now = yield* Clock.currentTimeMillis
        const claims = remembered(token, now) ?? (yield* check(token))
        if (revoked.has(claims.fam)) return yield* invalid("it was revoked")
        if (!isFor(claims, serverId)) {
          return yield* invalid(`it is for the server ${claims.srv ?? "that it does not name"}`)
        }
        return audiences.includes(claims.aud) ? claims : yield* invalid(`it is for ${claims.aud}`)
      }
    )

    return {
      mint,
      verify,
      /** From now on no access token of the family is accepted in this process. */
      revokeFamily: (familyId: string) => Effect.map(Clock.currentTimeMillis, (now) => revoked.add(familyId, now)),
      /** Checks everything but whom the token is for, and whether it was revoked. */
      read: Effect.fn("AccessTokens.read")(check),
      /** `verify` without waiting, for a token it has seen already: none means that `verify` must be asked. */
      peek: (
        token: string,
        audiences: ReadonlyArray<string>,
        now: number,
        serverId?: string
      ): Option.Option<AccessTokenClaims> => {
        const claims = remembered(token, now)
        return claims !== undefined && audiences.includes(claims.aud) && isFor(claims, serverId) &&
            !revoked.has(claims.fam)
          ? Option.some(claims)
          : Option.none()
      }
    } as const
  })
}) {}
