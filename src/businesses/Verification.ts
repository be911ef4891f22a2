import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { tierOf } from "#src/listings/VerificationLevel.ts"
import { now } from "#src/shared/now.ts"
import { Timestamp } from "#src/shared/text.ts"
import { Duration, Effect, Either, Option, Ref, Schema } from "effect"
import { timingSafeEqual } from "node:crypto"
import { type BusinessRow } from "./Business.ts"
import { Businesses } from "./Businesses.ts"
import {
  codeHash,
  CodeJustSent,
  codeLifetime,
  CodeRefused,
  mostTries,
  newCode,
  NoPhone,
  NotVerifiedYet,
  pause,
  SmsUnavailable
} from "./phone-code.ts"
import { international, samePhone } from "./phone-number.ts"
import { day, isNew, scopesOf, SmsCountryRefused, SmsLimitReached } from "./sms-limits.ts"
import { Sms } from "./Sms.ts"
import { SmsMessagesRepo } from "./SmsMessagesRepo.ts"
import { levelOf } from "./verification-level.ts"
import { VerificationRepo } from "./VerificationRepo.ts"

/** Where a code was sent; of the number it shows the last two digits. */
export const CodeSent = Schema.Struct({ phone: Schema.String, expiresAt: Timestamp })

const masked = (phone: string) => phone.slice(0, -2).replace(/\d/g, "•") + phone.slice(-2)
/** A review is valid only for the number at that time: a new number needs a new request. */
const withoutReview = { premiumGrantedAt: null, reviewRequestedAt: null }
const lifetime = Duration.toMillis(codeLifetime)
const rejected = (reason: string) => Either.left(new CodeRefused({ reason }))

/**
 * How a business gets its verification level (docs/businesses.md): the owner confirms a telephone number with a code,
 * the account reaches its age, the owner requests a review. The level is updated in the same transaction.
 */
export class Verification extends Effect.Service<Verification>()("businesses/Verification", {
  effect: Effect.gen(function*() {
    const businesses = yield* Businesses
    const repo = yield* VerificationRepo
    const sms = yield* Sms
    const messages = yield* SmsMessagesRepo
    const { smsCountries, smsDailyLimit } = yield* CurrentSettings

    const warnedAt = yield* Ref.make(0)

    /** Tells the operator once a day that half of the day's messages is used. */
    const warn = Effect.fn("Verification.warn")(function*(at: Date) {
      if (at.getTime() - (yield* Ref.get(warnedAt)) < day) return
      const sent = yield* messages.sent(new Date(at.getTime() - day))
      if (sent < smsDailyLimit / 2) return
      yield* Ref.set(warnedAt, at.getTime())
      yield* Effect.logWarning(
        `${sent} of the ${smsDailyLimit} text messages that SMS_DAILY_LIMIT allows in 24 hours were sent. At the limit ` +
          "nobody can confirm a telephone number: raise it, or name the countries you serve in SMS_COUNTRIES"
      )
    })

    const claim = Effect.fn("Verification.claim")(
      function*(phone: string, { accountCreatedAt, accountId }: BusinessRow, at: Date) {
        const isNewAccount = isNew(accountCreatedAt, at)
        const scopes = scopesOf({ isNewAccount, platform: smsDailyLimit })
        const claimed = yield* messages.claim({ phone, accountId, isNewAccount, sentAt: at }, scopes)
        if (claimed._tag === "Claimed") return claimed.id
        const { scope, since } = claimed
        const from = Math.min(since.getTime(), scope.isOfFirstDay ? accountCreatedAt.getTime() : Infinity)
        const seconds = Math.ceil((from + day - at.getTime()) / 1000)
        return yield* new SmsLimitReached({ scope, retryAfter: Math.max(1, seconds) })
      }
    )

    const prepare = Effect.fn("Verification.prepare")(function*(row: BusinessRow) {
      const to = international(row.phone)
      if (to === undefined) return yield* new NoPhone()
      if (smsCountries.length > 0 && !smsCountries.some((code) => to.startsWith(code))) {
        return yield* new SmsCountryRefused({ countries: smsCountries })
      }
      const at = yield* now
      const before = yield* repo.code(row.id)
      const wait = Option.match(before, {
        onNone: () => 0,
        onSome: ({ sentAt }) => sentAt.getTime() + Duration.toMillis(pause) - at.getTime()
      })
      if (wait > 0) return yield* new CodeJustSent({ retryAfter: Math.ceil(wait / 1000) })
      const message = yield* claim(to, row, at)
      const code = newCode()
      const expiresAt = new Date(at.getTime() + lifetime)
      const hash = codeHash(row.id, code)
      yield* repo.put({ businessId: row.id, phone: row.phone, codeHash: hash, sentAt: at, expiresAt })
      const notSent = Effect.zipRight(repo.notSent(row.id, hash), messages.refused(message))
      return { to, code, phone: masked(row.phone), expiresAt, notSent }
    })

    /**
     * Sends a code by SMS. The code is stored and counted against the day's limits before the message goes out; when
     * the gateway refuses it, both are undone. A message with an unknown outcome counts.
     */
    const sendCode = Effect.fn("Verification.sendCode")(function*(id: string) {
      const { result } = yield* businesses.changing(id, prepare)
      const { code, expiresAt, notSent, phone, to } = result
      yield* sms.send(to, `${code} is your verification code. It is good for 10 minutes.`).pipe(
        Effect.tapError(({ message, mayBeSent }) =>
          Effect.zipRight(Effect.logError(message), mayBeSent ? Effect.void : notSent)
        ),
        Effect.mapError(() => new SmsUnavailable())
      )
      yield* warn(yield* now)
      return { phone, expiresAt }
    }, withPolicy(sessionOnly))

    /** A wrong code is a result and not a failure: a failure would roll back the counted try. */
    const check = (code: string) =>
      Effect.fn("Verification.check")(function*(row: BusinessRow) {
        const sent = Option.getOrUndefined(yield* repo.code(row.id))
        const at = yield* now
        if (sent === undefined || !samePhone(sent.phone, row.phone)) {
          return rejected("no code was sent to this number; ask for one")
        }
        if (sent.expiresAt <= at) return rejected("has expired; ask for a new one")
        const number = international(sent.phone) ?? sent.phone
        const target = { phone: number, accountId: row.accountId }
        const tries = yield* repo.tries(target, new Date(sent.expiresAt.getTime() - lifetime))
        if (tries >= mostTries) return rejected(`was tried ${mostTries} times; ask for a new one`)
        if (!timingSafeEqual(sent.codeHash, codeHash(row.id, code))) {
          yield* repo.addTry(target, at)
          const left = mostTries - tries - 1
          return rejected(`is wrong; ${left === 1 ? "1 try is" : `${left} tries are`} left`)
        }
        yield* repo.drop(row.id)
        yield* businesses.write(row.id, {
          verifiedPhone: row.phone,
          phoneVerifiedAt: at,
          ...(row.verifiedPhone === null || samePhone(row.verifiedPhone, row.phone) ? {} : withoutReview)
        })
        return Either.right(undefined)
      })

    const confirm = Effect.fn("Verification.confirm")(function*(id: string, code: string) {
      const { result, row } = yield* businesses.changing(id, check(code))
      yield* result
      return yield* businesses.get(row.id)
    }, withPolicy(sessionOnly))

    const storeRequest = Effect.fn("Verification.ask")(function*(row: BusinessRow) {
      if (tierOf(levelOf(row, yield* now)) < tierOf("business_verified")) return yield* new NotVerifiedYet()
      if (row.reviewRequestedAt === null) yield* businesses.write(row.id, { reviewRequestedAt: yield* now })
    })

    /** Asks the operator for `premium_verified`. Idempotent. */
    const requestReview = Effect.fn("Verification.requestReview")(function*(id: string) {
      const { row } = yield* businesses.changing(id, storeRequest)
      return yield* businesses.get(row.id)
    }, withPolicy(sessionOnly))

    /** Deletes records that no limit counts any longer. */
    const sweep = Effect.flatMap(now, (at) =>
      Effect.zipRight(
        messages.sweep(new Date(at.getTime() - day)),
        repo.sweepTries(new Date(at.getTime() - lifetime))
      ))

    return { sendCode, confirm, requestReview, sweep } as const
  })
}) {}
