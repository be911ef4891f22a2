import { Effect, Option, Schema } from "effect"
import { failsWith, Invalid } from "./Failure.ts"
import { IdempotencyRepo } from "./IdempotencyRepo.ts"
import { sealedColumn } from "./sealed-column.ts"
import { Secrets } from "./Secrets.ts"

export class StillRunning extends Schema.TaggedError<StillRunning>()("StillRunning", {}, failsWith(409)) {
  override get message() {
    return "The first request with this Idempotency-Key is still running"
  }
}

/** An answer as it was first given. */
export const StoredResponse = Schema.parseJson(Schema.Struct({
  status: Schema.Int,
  contentType: Schema.NullOr(Schema.String),
  location: Schema.NullOr(Schema.String),
  /** `Set-Cookie`, a header each. */
  cookies: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] }),
  body: Schema.String
}))
export type StoredResponse = typeof StoredResponse.Type

export const sealedResponses = sealedColumn("idempotency_keys", "sealed_response")

const encode = Schema.encodeSync(StoredResponse)
const decode = Schema.decode(StoredResponse)

/** Stands for the account of a caller that has none yet. */
export const signUp = "sign-up"

const isKey = (key: string) => /^[\x21-\x7e]{1,255}$/.test(key)

/**
 * `Idempotency-Key`: the same key and request within 24 hours get the first answer again; another
 * request under the key is 422, one whose first is still running 409. Only successes are kept: after a failure the
 * caller may try again. Answers can hold secrets shown once, so they are sealed, and repeated only to the `holder` that
 * got them: another credential of the account may not be allowed what this one was. Of the request only a fingerprint
 * is kept, as it may hold secrets that could be guessed from a plain hash. A sign-up has `signUp` for its account.
 */
export class Idempotency extends Effect.Service<Idempotency>()("shared/Idempotency", {
  effect: Effect.gen(function*() {
    const repo = yield* IdempotencyRepo
    const secrets = yield* Secrets

    const once = Effect.fn("Idempotency.once")(function*<E, R>(
      request: { readonly accountId: string; readonly holder: string; readonly key: string; readonly content: string },
      run: Effect.Effect<StoredResponse, E, R>
    ) {
      const { accountId, content } = request
      if (!isKey(request.key)) {
        return yield* Invalid.field("Idempotency-Key", "must be 1 to 255 visible ASCII characters")
      }
      const key = `${request.holder} ${request.key}`
      const hash = secrets.fingerprint(content)
      const context = `idempotency ${accountId} ${key}`
      if (!(yield* repo.take(accountId, key, hash))) {
        const found = yield* repo.find(accountId, key)
        // Released between the two statements: its request has just failed, and this one may be sent again.
        if (Option.isNone(found)) return yield* new StillRunning()
        const row = found.value
        if (!secrets.isFingerprint(row.requestHash, content)) {
          return yield* Invalid.field("Idempotency-Key", "was used for another request")
        }
        if (row.sealedResponse === null) return yield* new StillRunning()
        return yield* Effect.orDie(Effect.flatMap(secrets.open(row.sealedResponse, context), decode))
      }
      // A request's middleware can't be interrupted, and what it forks takes after it.
      const keepAlive = Effect.interruptible(Effect.forever(Effect.delay(repo.renew(accountId, key), "20 seconds")))
      const settled = run.pipe(
        Effect.tap((response) =>
          response.status < 300
            ? Effect.flatMap(secrets.seal(encode(response), context), (sealed) => repo.finish(accountId, key, sealed))
            : repo.release(accountId, key)
        ),
        Effect.tapErrorCause(() => repo.release(accountId, key)),
        Effect.raceFirst(keepAlive)
      )
      // The caller's hanging up does not stop what it asked for: its retry must find the answer.
      return yield* Effect.flatMap(Effect.forkDaemon(settled), (fiber) => fiber.await).pipe(Effect.flatten)
    })

    return { once, sweep: repo.sweep } as const
  })
}) {}
