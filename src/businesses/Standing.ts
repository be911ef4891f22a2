import { Listings } from "#src/listings/Listings.ts"
import { now } from "#src/shared/now.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Duration, Effect } from "effect"
import { BusinessNotFound } from "./Business.ts"
import { BusinessesRepo } from "./BusinessesRepo.ts"
import { profileCompleteness } from "./completeness.ts"
import { fullAge, levelOf } from "./verification-level.ts"

/** What follows from a business as it is stored: its verification level, and how it is listed and ranked. */
export class Standing extends Effect.Service<Standing>()("businesses/Standing", {
  effect: Effect.gen(function*() {
    const repo = yield* BusinessesRepo
    const listings = yield* Listings
    const sql = yield* SqlClient.SqlClient

    const present = (id: string) => Effect.flatten(repo.find(id)).pipe(Effect.mapError(() => new BusinessNotFound()))

    /** Brings level and listing up to date. Runs in the transaction that changed the business. */
    const settle = Effect.fn("Standing.settle")(function*(id: string) {
      const row = yield* present(id)
      const verificationLevel = levelOf(row, yield* now)
      if (verificationLevel !== row.verificationLevel) yield* repo.update(id, { verificationLevel })
      yield* listings.follow({ ...row, verificationLevel, profileCompleteness: profileCompleteness(row) })
      return yield* present(id)
    })

    const settleEach = Effect.forEach((id: string) =>
      Effect.zipRight(repo.lock(id), settle(id)).pipe(
        transactionally(sql),
        Effect.catchTag("BusinessNotFound", () => Effect.void)
      ), { discard: true })

    /** Raises the level of businesses whose owner's account has come of age. */
    const comeOfAge = Effect.gen(function*() {
      const before = new Date((yield* now).getTime() - Duration.toMillis(fullAge))
      yield* settleEach(yield* repo.idsOfAge(before))
    }).pipe(Effect.withSpan("Standing.comeOfAge"))

    /** After a change of plan: the tier of the account's listings goes by it. */
    const followAccount = (accountId: string) => Effect.flatMap(repo.idsOfAccount(accountId), settleEach)

    /**
     * The word of a manual review: with it a business that is `business_verified` becomes `premium_verified`, without
     * it no more. Its level after that.
     */
    const setPremium = Effect.fn("Standing.setPremium")(function*(id: string, granted: boolean) {
      yield* repo.lock(id)
      yield* repo.update(
        id,
        granted ? { premiumGrantedAt: yield* now } : { premiumGrantedAt: null, reviewRequestedAt: null }
      )
      return (yield* settle(id)).verificationLevel
    }, transactionally(sql))

    return { settle, comeOfAge, followAccount, setPremium, reviews: repo.reviews } as const
  })
}) {}
