import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { now } from "#src/shared/now.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { Timestamp } from "#src/shared/text.ts"
import { Duration, Effect, Either, Option, Schema } from "effect"
import { timingSafeEqual } from "node:crypto"
import { type BusinessRow } from "./Business.ts"
import { Businesses } from "./Businesses.ts"
import {
  codeHash,
  CodeJustSent,
  codeLifetime,
  CodeRefused,
  messagesADay,
  mostTries,
  newCode,
  NoPhone,
  NotVerifiedYet,
  pause,
  SmsUnavailable
} from "./phone-code.ts"
import { international, samePhone } from "./phone-number.ts"
import { Sms } from "./Sms.ts"
import { levelOf, tierOf } from "./verification-level.ts"
import { VerificationRepo } from "./VerificationRepo.ts"

/** Where a code went: of the number, its last two digits. */
export const CodeSent = Schema.Struct({ phone: Schema.String, expiresAt: Timestamp })

const masked = (phone: string) => phone.slice(0, -2).replace(/\d/g, "•") + phone.slice(-2)
/** A review was of the business with the number it had: with another it is asked for anew. */
const reviewedNoMore = { premiumGrantedAt: null, reviewRequestedAt: null }
const refused = (reason: string) => Either.left(new CodeRefused({ reason }))

/**
 * How a business gets its verification level (contract: "Verification levels"): a telephone number is confirmed by a
 * code, the age of the account counts by itself, a review is asked for. The level follows in the same transaction.
 */
export class Verification extends Effect.Service<Verification>()("businesses/Verification", {
  effect: Effect.gen(function*() {
    const businesses = yield* Businesses
    const repo = yield* VerificationRepo
    const sms = yield* Sms
    const limits = yield* RateLimit

    /** Messages cost money, whichever of its businesses an account sends them for. */
    const sendable = Effect.flatMap(
      CurrentActor,
      ({ accountId }) => limits.consume({ key: `sms:${accountId}`, limit: messagesADay, window: "1 day" })
    ).pipe(
      Effect.catchTag("RateLimitUnavailable", () => new SmsUnavailable()),
      Effect.filterOrFail(
        ({ allowed }) => allowed,
        ({ retryAfterSeconds }) => new CodeJustSent({ retryAfter: retryAfterSeconds })
      )
    )

    const prepare = Effect.fn("Verification.prepare")(function*(row: BusinessRow) {
      const to = international(row.phone)
      if (to === undefined) return yield* new NoPhone()
      const at = yield* now
      const before = yield* repo.code(row.id)
      const wait = Option.match(before, {
        onNone: () => 0,
        onSome: ({ sentAt }) => sentAt.getTime() + Duration.toMillis(pause) - at.getTime()
      })
      if (wait > 0) return yield* new CodeJustSent({ retryAfter: Math.ceil(wait / 1000) })
      yield* sendable
      const code = newCode()
      const expiresAt = new Date(at.getTime() + Duration.toMillis(codeLifetime))
      const hash = codeHash(row.id, code)
      yield* repo.put({ businessId: row.id, phone: row.phone, codeHash: hash, tries: 0, sentAt: at, expiresAt })
      return { to, code, phone: masked(row.phone), expiresAt, notSent: repo.notSent(row.id, hash) }
    })

    /**
     * Sends a code by SMS. A message goes out only when its code is stored. One that the gateway did not take is not
     * waited for, but counts among the day's, so that nobody hammers the gateway.
     */
    const sendCode = Effect.fn("Verification.sendCode")(function*(id: string) {
      const { result } = yield* businesses.changing(id, prepare)
      const { code, expiresAt, notSent, phone, to } = result
      yield* sms.send(to, `${code} is your verification code. It is good for 10 minutes.`).pipe(
        Effect.tapError(({ message }) => Effect.zipRight(Effect.logError(message), notSent)),
        Effect.mapError(() => new SmsUnavailable())
      )
      return { phone, expiresAt }
    }, withPolicy(sessionOnly))

    /** A wrong try must count, so it is a result and not a failure: that would undo the transaction. */
    const check = (code: string) =>
      Effect.fn("Verification.check")(function*(row: BusinessRow) {
        const sent = Option.getOrUndefined(yield* repo.code(row.id))
        const at = yield* now
        if (sent === undefined || !samePhone(sent.phone, row.phone)) {
          return refused("no code was sent to this number; ask for one")
        }
        if (sent.expiresAt <= at) return refused("has expired; ask for a new one")
        if (sent.tries >= mostTries) return refused(`was tried ${mostTries} times; ask for a new one`)
        if (!timingSafeEqual(sent.codeHash, codeHash(row.id, code))) {
          yield* repo.countTry(row.id)
          return refused(`is wrong; ${mostTries - sent.tries - 1} tries are left`)
        }
        yield* repo.drop(row.id)
        yield* businesses.write(row.id, {
          verifiedPhone: row.phone,
          phoneVerifiedAt: at,
          ...(row.verifiedPhone === null || samePhone(row.verifiedPhone, row.phone) ? {} : reviewedNoMore)
        })
        return Either.right(undefined)
      })

    const confirm = Effect.fn("Verification.confirm")(function*(id: string, code: string) {
      const { result, row } = yield* businesses.changing(id, check(code))
      yield* result
      return yield* businesses.get(row.id)
    }, withPolicy(sessionOnly))

    const ask = Effect.fn("Verification.ask")(function*(row: BusinessRow) {
      if (tierOf(levelOf(row, yield* now)) < tierOf("business_verified")) return yield* new NotVerifiedYet()
      if (row.reviewRequestedAt === null) yield* businesses.write(row.id, { reviewRequestedAt: yield* now })
    })

    /** Asks the operator for `premium_verified`; asking again changes nothing. */
    const requestReview = Effect.fn("Verification.requestReview")(function*(id: string) {
      const { row } = yield* businesses.changing(id, ask)
      return yield* businesses.get(row.id)
    }, withPolicy(sessionOnly))

    return { sendCode, confirm, requestReview } as const
  })
}) {}
