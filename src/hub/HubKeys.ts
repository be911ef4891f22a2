import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { byHubReader, type Policy, sessionOnly, type Unauthorized, withPolicy } from "#src/accounts/Policy.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { isAtLeast, tierAbove } from "#src/plans/HubTier.ts"
import { isUlid, newUlid } from "#src/shared/ids.ts"
import { now } from "#src/shared/now.ts"
import { transactionally } from "#src/shared/sql.ts"
import { digestOf, isKey, newKey } from "#src/shared/tokens.ts"
import { traced } from "#src/shared/traced.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option } from "effect"
import {
  type HubKeyInput,
  HubKeyNotFound,
  HubKeyRevoked,
  HubQuotaExceeded,
  HubReadsExceeded,
  HubTierNotGiven,
  TooManyHubKeys
} from "./HubKey.ts"
import { HubKeysRepo } from "./HubKeysRepo.ts"

export const hubKeyPrefix = "hub_live_"
/** Contract: Limits, hub key list. */
const keysPerAccount = 100
const secondsOfDay = 86_400

const dayOf = (at: Date) => at.toISOString().slice(0, 10)
/** In Unix seconds. */
const endOf = (day: string) => Date.parse(day) / 1000 + secondsOfDay

/** Hub keys: the credential of agent developers, with so many requests a day (contract: Hub API key). */
export class HubKeys extends Effect.Service<HubKeys>()("hub/HubKeys", {
  effect: Effect.gen(function*() {
    const repo = yield* HubKeysRepo
    const sql = yield* SqlClient.SqlClient
    const { hubMaxTier } = yield* CurrentSettings

    const create = Effect.fn("HubKeys.create")(
      function*({ tier }: typeof HubKeyInput.Type) {
        const { accountId } = yield* CurrentActor
        if (!isAtLeast(hubMaxTier, tier)) return yield* new HubTierNotGiven({ tier, maxTier: hubMaxTier })
        yield* repo.lockAccount(accountId)
        if ((yield* repo.active(accountId)) >= keysPerAccount) return yield* new TooManyHubKeys()
        const key = newKey(hubKeyPrefix)
        const row = { id: newUlid(), userId: accountId, keyPrefix: key.slice(0, 16), keyHash: digestOf(key), tier }
        return { key, meta: yield* repo.insert(row, dayOf(yield* now)) }
      },
      transactionally(sql),
      withPolicy(sessionOnly)
    )

    /** The active ones, oldest first. */
    const list = Effect.fn("HubKeys.list")(function*() {
      const { accountId } = yield* CurrentActor
      return yield* repo.list(accountId, dayOf(yield* now), keysPerAccount)
    }, withPolicy(sessionOnly))

    const revoke = Effect.fn("HubKeys.revoke")(function*(id: string) {
      const { accountId } = yield* CurrentActor
      const before = isUlid(id) ? yield* repo.revoke(id, accountId, yield* now) : Option.none()
      if (Option.isNone(before)) return yield* new HubKeyNotFound()
      if (before.value.revoked) return yield* new HubKeyRevoked()
    }, withPolicy(sessionOnly))

    /**
     * The actor of a hub key, whose request counts against its day; none when it is unknown or revoked. A malformed key
     * costs no query.
     */
    const authenticate = traced("HubKeys.authenticate")(function*(key: string) {
      if (!isKey([hubKeyPrefix], key)) return Option.none<Actor>()
      const at = yield* now
      const holder = yield* repo.consume(digestOf(key), dayOf(at), at)
      if (Option.isNone(holder)) return Option.none<Actor>()
      const { accountId, admitted, dailyRequestCount, day, email, id, plan, tier } = holder.value
      const resetAt = endOf(day)
      const retryAfter = resetAt - Math.floor(at.getTime() / 1000)
      if (!admitted) return yield* new HubQuotaExceeded({ tier, retryAfter, resetAt })
      const credential = { kind: "hub" as const, id, tier, usedToday: dailyRequestCount, resetAt }
      return Option.some<Actor>({ accountId, email, plan, credential })
    })

    /**
     * For reads of composites (contract: Hub authentication): a hub key, whose request is counted already, or an account
     * that has signed in, with the requests of its best active key, else of an Explorer. docs/decisions/one-credential.md
     */
    const reads: Policy<Unauthorized | HubReadsExceeded> = Effect.gen(function*() {
      yield* byHubReader
      const actor = yield* CurrentActor
      if (actor.credential.kind === "hub") return
      const at = yield* now
      const { admitted, day, tier } = yield* repo.consumeRead(actor.accountId, dayOf(at))
      if (admitted) return
      const above = tierAbove(tier)
      const requiredTier = above !== undefined && isAtLeast(hubMaxTier, above) ? above : undefined
      return yield* new HubReadsExceeded({
        tier,
        requiredTier,
        retryAfter: endOf(day) - Math.floor(at.getTime() / 1000)
      })
    })

    /** The tier that a caller has: its hub key's, or the best of its account. */
    const tierOf = ({ accountId, credential }: Actor) =>
      credential.kind === "hub"
        ? Effect.succeed(credential.tier)
        : Effect.map(
          repo.bestTier(accountId),
          Option.match({ onNone: () => "explorer" as const, onSome: ({ tier }) => tier })
        )

    return { create, list, revoke, authenticate, reads, tierOf } as const
  })
}) {}
