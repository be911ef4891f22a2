import { Listings } from "#src/listings/Listings.ts"
import { now } from "#src/shared/now.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Duration, Effect } from "effect"
import { BusinessNotFound } from "./Business.ts"
import { BusinessesRepo } from "./BusinessesRepo.ts"
import { profileCompleteness } from "./completeness.ts"
import { levelOf, requiredAge } from "./verification-level.ts"

/** Derives from the stored business its verification level, and how it is listed and ranked. */
export class Standing extends Effect.Service<Standing>()("businesses/Standing", {
  effect: Effect.gen(function*() {
    const repo = yield* BusinessesRepo
    const listings = yield* Listings
    const sql = yield* SqlClient.SqlClient

    const find = (id: string) => Effect.flatten(repo.find(id)).pipe(Effect.mapError(() => new BusinessNotFound()))

    /** Updates level and listing. Must run in the transaction that changed the business. */
    const settle = Effect.fn("Standing.settle")(function*(id: string) {
      const row = yield* find(id)
      const verificationLevel = levelOf(row, yield* now)
      if (verificationLevel !== row.verificationLevel) yield* repo.update(id, { verificationLevel })
      yield* listings.follow({ ...row, verificationLevel, profileCompleteness: profileCompleteness(row) })
      return yield* find(id)
    })

    const settleEach = Effect.forEach((id: string) =>
      Effect.zipRight(repo.lock(id), settle(id)).pipe(
        transactionally(sql),
        Effect.catchTag("BusinessNotFound", () => Effect.void)
      ), { discard: true })

    /** A business that is being changed is left for the next turn: the change may take long. */
    const followHealthOf = Effect.fnUntraced(function*(id: string) {
      if (!(yield* repo.tryLock(id))) return
      yield* listings.followHealth(id, (yield* Effect.orDie(find(id))).healthScore)
    }, transactionally(sql))

    const followEach = Effect.forEach(
      (id: string) =>
        Effect.catchAllDefect(
          followHealthOf(id),
          (defect) => Effect.logWarning(`The listing of business ${id} can't follow its server's health`, defect)
        ),
      { discard: true }
    )

    /** Gives listings the scores that their servers' probes have led to. */
    const followHealth = Effect.flatMap(repo.idsOfOldHealth, followEach).pipe(
      Effect.withSpan("Standing.followHealth")
    )

    /** The same at once, for the business of one server. */
    const followServer = (serverId: string) => Effect.flatMap(repo.idsOfServer(serverId), followEach)

    /** Raises the level of businesses whose owner's account has reached `requiredAge`. */
    const raiseLevels = Effect.gen(function*() {
      const before = new Date((yield* now).getTime() - Duration.toMillis(requiredAge))
      yield* settleEach(yield* repo.idsOfAge(before))
    }).pipe(Effect.withSpan("Standing.comeOfAge"))

    /** To be called after a change of plan, which decides the tier of the account's listings. */
    const followAccount = (accountId: string) => Effect.flatMap(repo.idsOfAccount(accountId), settleEach)

    /**
     * Records the result of a manual review: granted, a `business_verified` business becomes `premium_verified`; else
     * it loses that level. Returns the new level.
     */
    const setPremium = Effect.fn("Standing.setPremium")(function*(id: string, granted: boolean) {
      yield* repo.lock(id)
      yield* repo.update(
        id,
        granted ? { premiumGrantedAt: yield* now } : { premiumGrantedAt: null, reviewRequestedAt: null }
      )
      return (yield* settle(id)).verificationLevel
    }, transactionally(sql))

    return {
      settle,
      followHealth,
      followServer,
      raiseLevels,
      followAccount,
      setPremium,
      reviews: repo.reviews
    } as const
  })
}) {}
