import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { admission } from "#src/oauth/checks/access.ts"
import { mcpScopes } from "#src/oauth/scopes/scopes.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { newId } from "#src/shared/ids.ts"
import { Clock, Data, Effect, Option } from "effect"
import { LRUCache } from "lru-cache"
import { AccessTokens } from "./AccessTokens.ts"
import { compositesClientId, GrantId } from "./Grant.ts"
import { MemberGrantsRepo } from "./MemberGrantsRepo.ts"

/** The account may not use the server through a composite; `reason` is a sentence for it. */
export class MemberRefused extends Data.TaggedError("MemberRefused")<{ readonly reason: string }> {}

/** A token is not used in its last minute: the call that carries it takes time. */
const unusedMillis = 60_000

interface Held {
  readonly token: string
  readonly familyId: string
  readonly audience: string
  readonly expiresAt: number
}

/**
 * Tokens with which composites call their members for an account: an exchange as of RFC 8693, with the account as the
 * subject and us as the client. Each is for one server, as its audience says, and comes of a grant that the account
 * sees and can revoke; the credential that the account itself called with is never passed on.
 */
export class MemberTokens extends Effect.Service<MemberTokens>()("oauth/MemberTokens", {
  effect: Effect.gen(function*() {
    const repo = yield* MemberGrantsRepo
    const tokens = yield* AccessTokens
    const settings = yield* CurrentSettings
    const held = new LRUCache<string, Held>({ max: 10_000 })

    const refused = (reason: string) => new MemberRefused({ reason })

    /** The family of the account's grant for the server, which the first call records. */
    const familyOf = Effect.fn("MemberTokens.familyOf")(function*(serverId: string) {
      const { accountId } = yield* CurrentActor
      const first = Option.getOrUndefined(yield* repo.find(accountId, serverId, compositesClientId))
      if (first === undefined) return yield* refused("the server does not exist any more")
      const { access, allowedEmails, authMode, email, emailVerified, ownerId } = first
      if (authMode === "byoa") return yield* refused("its server takes the tokens of its own authorization server")
      if (admission({ access, allowedEmails, ownerId }, { accountId, email, emailVerified }) !== "admitted") {
        return yield* refused("its server does not let in this account")
      }
      if (first.grantId === null) {
        yield* repo.grant({
          accountId,
          serverId,
          clientId: compositesClientId,
          grantId: GrantId.make(newId("gra")),
          familyId: newId("fam"),
          scopes: mcpScopes
        })
      }
      const row = first.grantId === null
        ? Option.getOrUndefined(yield* repo.find(accountId, serverId, compositesClientId))
        : first
      if (row === undefined) return yield* refused("the server does not exist any more")
      if (row.familyId === null) {
        return yield* refused(
          `this account's access to it was revoked; its user can allow it again: POST /v1/auth/grants/${row.grantId}/renew`
        )
      }
      return { familyId: row.familyId, slug: row.slug }
    })

    const exchange = Effect.fn("MemberTokens.exchange")(
      function*(
        serverId: string,
        scope: string,
        { familyId, slug }: Effect.Effect.Success<ReturnType<typeof familyOf>>
      ) {
        const { accountId } = yield* CurrentActor
        const audience = publicUrl(settings, slug)
        const { expiresAt, token } = yield* tokens.mint({
          accountId,
          audience,
          scope,
          clientId: compositesClientId,
          familyId,
          serverId
        })
        return { token, familyId, audience, expiresAt: expiresAt.getTime() }
      }
    )

    /**
     * A token of the caller's account for the server, with these scopes (space-separated); the same one while it is
     * valid. Whether the account may use the server, and has not revoked that, is asked each time.
     */
    const tokenFor = Effect.fn("MemberTokens.tokenFor")(function*(serverId: string, scope: string) {
      const { accountId } = yield* CurrentActor
      const key = `${accountId} ${serverId} ${scope}`
      const granted = yield* familyOf(serverId)
      const last = held.get(key)
      const now = yield* Clock.currentTimeMillis
      const isGood = last !== undefined && now < last.expiresAt - unusedMillis && last.familyId === granted.familyId &&
        last.audience === publicUrl(settings, granted.slug)
      if (isGood) return last.token
      const fresh = yield* exchange(serverId, scope, granted)
      held.set(key, fresh)
      return fresh.token
    })

    /** The same without asking again, for further requests of a call that `tokenFor` has admitted. */
    const keptToken = Effect.fn("MemberTokens.keptToken")(function*(serverId: string, scope: string) {
      const { accountId } = yield* CurrentActor
      const last = held.get(`${accountId} ${serverId} ${scope}`)
      const now = yield* Clock.currentTimeMillis
      return last !== undefined && now < last.expiresAt - unusedMillis ? last.token : yield* tokenFor(serverId, scope)
    })

    return { tokenFor, keptToken } as const
  })
}) {}
