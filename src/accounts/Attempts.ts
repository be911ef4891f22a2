import { addressBucket } from "#src/shared/client-address.ts"
import { now } from "#src/shared/now.ts"
import { digestOf } from "#src/shared/tokens.ts"
import { Duration, Effect } from "effect"
import { AttemptsRepo, type Origin } from "./AttemptsRepo.ts"
import { retryAt, withFailure } from "./slowdown.ts"
import { TooManyAttempts } from "./User.ts"

const window = Duration.toMillis("15 minutes")
const mostInWindow = 10
/** An address with a successful log-in within this time is exempt from the account's limit on failures from anywhere. */
const knownFor = Duration.toMillis("30 days")

/** An attempt that was admitted and counted. */
export interface Attempt {
  readonly origin: Origin
  /** Whether it also counts towards the account's limit, which is independent of the address. */
  readonly tallied: boolean
}

/**
 * Rate limits of log-ins: 10 failures in 15 minutes from one address for one account; and, from all addresses that are
 * not known for the account together, 100 failures a day, then one attempt a minute. Accounts that do not exist are
 * counted like those that do.
 */
export class Attempts extends Effect.Service<Attempts>()("accounts/Attempts", {
  effect: Effect.gen(function*() {
    const repo = yield* AttemptsRepo

    const refuse = (until: Date, at: Date) =>
      new TooManyAttempts({ retryAfter: Math.max(1, Math.ceil((until.getTime() - at.getTime()) / 1000)) })

    const claim = Effect.fn("Attempts.claim")(function*(origin: Origin) {
      const at = yield* now
      const { count, oldest } = yield* repo.recent(origin, new Date(at.getTime() - window))
      if (count >= mostInWindow) return yield* refuse(new Date(oldest.getTime() + window), at)
      const tallied = !(yield* repo.isKnown(origin, new Date(at.getTime() - knownFor)))
      if (tallied) {
        const tally = yield* repo.tally(origin)
        const until = tally === undefined ? undefined : retryAt(tally, at)
        if (until !== undefined) return yield* refuse(until, at)
        yield* repo.putTally(origin, withFailure(tally, at))
      }
      yield* repo.add(origin, at)
      return { origin, tallied } satisfies Attempt
    })

    const originOf = (email: string, address: string): Origin => ({
      bucket: digestOf(`${addressBucket(address)}\n${email}`),
      account: digestOf(email)
    })

    return {
      /** Counts an attempt before it is checked, so that many at once can't pass the limit together. */
      begin: (email: string, address: string) => {
        const origin = originOf(email, address)
        return repo.oneByOne(origin, claim(origin))
      },
      /** A sign-up makes its address known for the account, as a log-in does. */
      signedUp: Effect.fn("Attempts.signedUp")(function*(email: string, address: string) {
        yield* repo.succeeded(originOf(email, address), yield* now)
      }),
      /** The password was right: clears earlier failures from the same address, and keeps those from others. */
      succeeded: Effect.fn("Attempts.succeeded")(function*({ origin, tallied }: Attempt) {
        if (tallied) yield* repo.lowerTally(origin)
        yield* repo.succeeded(origin, yield* now)
      }),
      sweep: Effect.flatMap(now, (at) =>
        repo.sweep({
          attempts: new Date(at.getTime() - window),
          known: new Date(at.getTime() - knownFor)
        }, at))
    } as const
  })
}) {}
