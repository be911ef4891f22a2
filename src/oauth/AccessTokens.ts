import { CurrentSettings } from "#src/config/Settings.ts"
import { newUlid } from "#src/shared/ids.ts"
import { messageOf } from "#src/shared/message-of.ts"
import { Clock, Data, Effect, Option, Schema } from "effect"
import { decodeProtectedHeader, jwtVerify, SignJWT } from "jose"
import { ClaimsCache } from "./claims-cache.ts"
import { RevokedFamilies } from "./revoked-families.ts"
import { SigningKeys } from "./SigningKeys.ts"

/** Who acts for the token's account: the client `sub`, as `iss` knows it (RFC 8693 §4.1). */
export const ActingParty = Schema.Struct({ iss: Schema.String, sub: Schema.String })
export type ActingParty = typeof ActingParty.Type

/** RFC 9068 §2.2. `aud` is one string: a token is for exactly one resource. */
export const AccessTokenClaims = Schema.Struct({
  iss: Schema.String,
  sub: Schema.String.pipe(Schema.minLength(1)),
  aud: Schema.String,
  client_id: Schema.String.pipe(Schema.minLength(1)),
  scope: Schema.String,
  iat: Schema.Int,
  exp: Schema.Int,
  jti: Schema.String,
  /** Only where another acts for the account; none: the account's own client holds the token. */
  act: Schema.optionalWith(ActingParty, { exact: true }),
  /** Private claim: the token family. An owner's test token has none. */
  fam: Schema.optionalWith(Schema.String, { exact: true }),
  /** Private claim: the family of the token that it was exchanged for, which ends it too. */
  par: Schema.optionalWith(Schema.String, { exact: true }),
  /** Private claim: the id of the hosted server it is for. A URL may pass to another server; an id can't. */
  srv: Schema.optionalWith(Schema.String, { exact: true }),
  /** Private claim: it reaches only what everybody may use, as the hub key that it was exchanged for. */
  pub: Schema.optionalWith(Schema.Boolean, { exact: true })
})
export type AccessTokenClaims = typeof AccessTokenClaims.Type

/** The token is rejected. The reason is for the log; callers see only `invalid_token`. */
export class InvalidToken extends Data.TaggedError("InvalidToken")<{ readonly reason: string }> {}

export interface MintRequest {
  /** The account that the token speaks for. */
  readonly accountId: string
  /** The one resource URL the token is for. */
  readonly audience: string
  /** Space-separated. */
  readonly scope: string
  readonly clientId: string
  /** Whether the client acts for the account by itself, and no client of the account's holds the token. */
  readonly isActing?: boolean
  /** The token family, with which the token is revoked. */
  readonly familyId?: string
  /** The family of the token that it is exchanged for, with which it is revoked as well. */
  readonly parentFamilyId?: string
  /** The id of the hosted server that is the resource; left out for Berth's own MCP endpoint. */
  readonly serverId?: string
  /** Whether it reaches only what everybody may use. */
  readonly forEverybody?: boolean
}

/** Lifetime of access tokens (contract: Hosted servers). */
export const accessTokenSeconds = 15 * 60

/** Revocations are kept longer than a token lives: a request in flight at the time may mint one more token. */
export const revocationSeconds = accessTokenSeconds + 60

const invalid = (reason: string) => new InvalidToken({ reason })
const parseHeader = (token: string) => Effect.try(() => decodeProtectedHeader(token))
const decodeClaims = Schema.decodeUnknown(AccessTokenClaims)

/** Makes and checks RFC 9068 access tokens: ES256 JWTs of type `at+jwt`. */
export class AccessTokens extends Effect.Service<AccessTokens>()("oauth/AccessTokens", {
  effect: Effect.gen(function*() {
    const keys = yield* SigningKeys
    const { authUrl } = yield* CurrentSettings
    const cachedClaims = new ClaimsCache<AccessTokenClaims>(10_000)
    const revoked = new RevokedFamilies(revocationSeconds * 1000)

    const mint = Effect.fn("AccessTokens.mint")(function*(request: MintRequest) {
      const { key, kid } = yield* keys.signing
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const expires = now + accessTokenSeconds
      const { accountId, audience, clientId, familyId, forEverybody = false, isActing = false } = request
      const { parentFamilyId, scope, serverId } = request
      const furtherClaims = {
        ...(isActing ? { act: { iss: authUrl, sub: clientId } satisfies ActingParty } : {}),
        ...(familyId === undefined ? {} : { fam: familyId }),
        ...(parentFamilyId === undefined ? {} : { par: parentFamilyId }),
        ...(serverId === undefined ? {} : { srv: serverId }),
        ...(forEverybody ? { pub: true } : {})
      }
      const token = yield* Effect.promise(() =>
        new SignJWT({ client_id: clientId, scope, ...furtherClaims })
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
      cachedClaims.put(token, claims, claims.exp * 1000)
      return claims
    })

    /** The claims of a token that was checked before and has not expired; costs one map lookup. */
    const cached = (token: string, now: number) => cachedClaims.get(token, now)

    const isRevoked = ({ fam, par }: AccessTokenClaims) => revoked.has(fam) || revoked.has(par)

    const isFor = ({ srv }: AccessTokenClaims, serverId: string | undefined) =>
      serverId === undefined || srv === serverId

    /**
     * Checks everything: our signature, type, issuer, times, that the audience is one of `audiences`, and, if
     * `serverId` is given, that the token is for that hosted server. No leeway for clocks: our own clock set the times.
     */
    const verify = Effect.fn("AccessTokens.verify")(
      function*(token: string, audiences: ReadonlyArray<string>, serverId?: string) {
        const now = yield* Clock.currentTimeMillis
        const claims = cached(token, now) ?? (yield* check(token))
        if (isRevoked(claims)) return yield* invalid("it was revoked")
        if (!isFor(claims, serverId)) {
          return yield* invalid(`it is for the server ${claims.srv ?? "that it does not name"}`)
        }
        return audiences.includes(claims.aud) ? claims : yield* invalid(`it is for ${claims.aud}`)
      }
    )

    return {
      mint,
      verify,
      /** This process no longer accepts access tokens of the family. */
      revokeFamily: (familyId: string) => Effect.map(Clock.currentTimeMillis, (now) => revoked.add(familyId, now)),
      /** Checks everything but the audience and revocation. */
      read: Effect.fn("AccessTokens.read")(check),
      /** Synchronous `verify` for a cached token; none means that the caller must use `verify`. */
      peek: (
        token: string,
        audiences: ReadonlyArray<string>,
        now: number,
        serverId?: string
      ): Option.Option<AccessTokenClaims> => {
        const claims = cached(token, now)
        return claims !== undefined && audiences.includes(claims.aud) && isFor(claims, serverId) &&
            !isRevoked(claims)
          ? Option.some(claims)
          : Option.none()
      }
    } as const
  })
}) {}
