import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { mcpScopesIn } from "#src/oauth/scopes/mcp-scopes.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { newId } from "#src/shared/ids.ts"
import { traced } from "#src/shared/traced.ts"
import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import { AccessTokens } from "./AccessTokens.ts"
import { compositesClientId, GrantId } from "./Grant.ts"
import { isAdmitted, isGranted, type MemberGrantRow, revokedGrant } from "./member-standing.ts"
import { MemberGrantsRepo } from "./MemberGrantsRepo.ts"

/** Of one server: the token, or why the account may not use the server through a composite. */
export type Admission =
  | { readonly _tag: "Admitted"; readonly token: string }
  /** A sentence for the account, without its full stop. */
  | { readonly _tag: "Refused"; readonly reason: string }
  /** The account's user has revoked the grant. */
  | { readonly _tag: "Revoked"; readonly grantId: string }

/** A token is not used in its last minute: the call that carries it takes time. */
const unusedMillis = 60_000

const gone = "the server does not exist any more"

/** Why the account gets no token, whatever was granted. */
const refusalOf = (accountId: string, row: MemberGrantRow | undefined) => {
  if (row === undefined) return gone
  if (row.authMode === "byoa") return "its server takes the tokens of its own authorization server"
  return isAdmitted(row, accountId) ? undefined : "its server does not let in this account"
}

interface Held {
  readonly token: string
  readonly familyId: string
  readonly audience: string
  readonly expiresAt: number
}

/**
 * Tokens with which composites call their members for an account: an exchange as of RFC 8693, with the account as the
 * subject and us as the client, which its claim `act` names. Each is for one server, as its audience says, and comes of a grant that the account
 * sees and can revoke; the credential that the account itself called with is never passed on.
 */
export class MemberTokens extends Effect.Service<MemberTokens>()("oauth/MemberTokens", {
  effect: Effect.gen(function*() {
    const repo = yield* MemberGrantsRepo
    const tokens = yield* AccessTokens
    const settings = yield* CurrentSettings
    const held = new LRUCache<string, Held>({ max: 10_000 })

    /** The servers as the account may use them, each with a grant that says what was given: its first call records it. */
    const granted = Effect.fn("MemberTokens.granted")(function*(first: ReadonlyArray<MemberGrantRow>, scope: string) {
      const { accountId } = yield* CurrentActor
      const scopes = [...mcpScopesIn(scope)]
      const fresh = first.filter((row) => !isGranted(row, scopes) && refusalOf(accountId, row) === undefined)
      if (fresh.length === 0) return first
      yield* repo.grant({
        accountId,
        clientId: compositesClientId,
        scopes,
        servers: fresh.map(({ serverId }) => ({
          serverId,
          grantId: GrantId.make(newId("gra")),
          familyId: newId("fam")
        }))
      })
      return yield* repo.find(accountId, first.map(({ serverId }) => serverId))
    })

    const keyOf = (accountId: string, serverId: string, scope: string) => `${accountId} ${serverId} ${scope}`

    /** Synchronous: the token that was last made for the server, while it is valid. Not whether it was revoked. */
    const kept = (accountId: string, serverId: string, scope: string, now: number): string | undefined => {
      const last = held.get(keyOf(accountId, serverId, scope))
      return last !== undefined && now < last.expiresAt - unusedMillis ? last.token : undefined
    }

    const mint = Effect.fn("MemberTokens.mint")(
      function*(serverId: string, audience: string, familyId: string, scope: string) {
        const { accountId } = yield* CurrentActor
        const { expiresAt, token } = yield* tokens.mint({
          accountId,
          audience,
          scope,
          clientId: compositesClientId,
          isActing: true,
          familyId,
          serverId
        })
        held.set(keyOf(accountId, serverId, scope), { token, familyId, audience, expiresAt: expiresAt.getTime() })
        return token
      }
    )

    /**
     * Tokens of the caller's account for servers, with these scopes (space-separated); the same ones while they are valid.
     * The servers are as the account may use them at this moment.
     */
    const admit = traced("MemberTokens.admit")(function*(servers: ReadonlyArray<MemberGrantRow>, scope: string) {
      const { accountId } = yield* CurrentActor
      const rows = new Map((yield* granted(servers, scope)).map((row) => [row.serverId, row]))
      const at = yield* Clock.currentTimeMillis
      const admissions = new Map<string, Admission>()
      for (const { serverId } of servers) {
        const row = rows.get(serverId)
        const reason = refusalOf(accountId, row)
        if (row === undefined || reason !== undefined) {
          admissions.set(serverId, { _tag: "Refused", reason: reason ?? gone })
          continue
        }
        const { familyId, slug } = row
        const grantId = revokedGrant(row)
        if (grantId !== undefined) admissions.set(serverId, { _tag: "Revoked", grantId })
        // Without a grant the server went between the two statements.
        else if (familyId === null) admissions.set(serverId, { _tag: "Refused", reason: gone })
        else {
          const audience = publicUrl(settings, slug)
          const last = held.get(keyOf(accountId, serverId, scope))
          const isSame = last?.familyId === familyId && last.audience === audience
          const token = (isSame ? kept(accountId, serverId, scope, at) : undefined) ??
            (yield* mint(serverId, audience, familyId, scope))
          admissions.set(serverId, { _tag: "Admitted", token })
        }
      }
      return admissions as ReadonlyMap<string, Admission>
    })

    /** The same of one server, after some time; none when it is gone. */
    const renew = Effect.fn("MemberTokens.renew")(function*(serverId: string, scope: string) {
      const { accountId } = yield* CurrentActor
      return (yield* admit(yield* repo.find(accountId, [serverId]), scope)).get(serverId)
    })

    return { admit, renew, kept } as const
  })
}) {}
