import { Context, Effect, Option, Schema } from "effect"
import { failsWith, Invalid } from "./Failure.ts"
import { IdempotencyRepo } from "./IdempotencyRepo.ts"
import { sealedColumn } from "./sealed-column.ts"
import { Secrets } from "./Secrets.ts"

export class StillRunning extends Schema.TaggedError<StillRunning>()("StillRunning", {}, failsWith(409)) {
  override get message() {
    return "The first request with this Idempotency-Key is still running"
  }
  get retryAfter() {
    return 1
  }
}

/** The first response to a request. */
export const StoredResponse = Schema.parseJson(Schema.Struct({
  status: Schema.Int,
  contentType: Schema.NullOr(Schema.String),
  location: Schema.NullOr(Schema.String),
  /** Of a failure, which is answered and not stored. */
  retryAfter: Schema.optional(Schema.String),
  /** `Set-Cookie` headers. */
  cookies: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] }),
  body: Schema.String
}))
export type StoredResponse = typeof StoredResponse.Type

export const sealedResponses = sealedColumn("idempotency_keys", "sealed_response")

interface Run {
  readonly recovered: Option.Option<string>
  readonly checkpoint: (text: string) => Effect.Effect<void>
}
const unkept: Run = { recovered: Option.none(), checkpoint: () => Effect.void }

/**
 * For an operation that commits, and then goes on for long. With `checkpoint`, called in the transaction, it keeps what
 * it committed; when the program ends before the answer, the repeat of the request finds that in `recovered`, and must
 * go on from there. Without an `Idempotency-Key` nothing is kept.
 */
export class IdempotentRun extends Context.Reference<IdempotentRun>()("shared/IdempotentRun", {
  defaultValue: () => unkept
}) {}

/** For one of its steps that would keep something of its own: the operation as a whole has its checkpoint. */
export const asStep = Effect.provideService(IdempotentRun, unkept)

const encode = Schema.encodeSync(StoredResponse)
const decode = Schema.decode(StoredResponse)

/** Replaces the account id of a caller without an account. */
export const signUp = "sign-up"

const isKey = (key: string) => /^[\x21-\x7e]{1,255}$/.test(key)

/**
 * `Idempotency-Key`: the same key and request within 24 hours get the first response again; another request with the
 * key is 422, a repeat while the first still runs is 409; one whose process was killed runs anew, or goes on from its
 * checkpoint. Only successes are stored: after a failure, also to store the answer, the caller may retry. Responses can
 * hold secrets shown once, so they are sealed, and replayed only to the same `holder` (credential): another credential
 * of the account may have fewer rights. Of the request only a fingerprint is stored, since it may hold secrets that
 * could be guessed from a plain hash. A sign-up uses `signUp` as its account.
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
      const acquired = yield* repo.acquire(accountId, key, hash)
      if (Option.isNone(acquired)) {
        const existing = yield* repo.find(accountId, key)
        // Released between the two statements: the first request has just failed, and this one may be retried.
        if (Option.isNone(existing)) return yield* new StillRunning()
        const row = existing.value
        if (!secrets.isFingerprint(row.requestHash, content)) {
          return yield* Invalid.field("Idempotency-Key", "was used for another request")
        }
        if (row.sealedResponse === null) return yield* new StillRunning()
        return yield* Effect.orDie(Effect.flatMap(secrets.open(row.sealedResponse, context), decode))
      }
      const { checkpoint, hostSession } = acquired.value
      const held = { accountId, key, hostSession }
      // A request's middleware is uninterruptible, and fibers that it forks inherit that.
      const keepAlive = Effect.interruptible(Effect.forever(Effect.delay(repo.renew(held), "20 seconds")))
      const checkpointed = {
        recovered: Option.fromNullable(checkpoint),
        checkpoint: (text: string) => repo.checkpoint(held, text)
      }
      const settled = Effect.provideService(run, IdempotentRun, checkpointed).pipe(
        Effect.tap((response) =>
          response.status < 300
            ? Effect.flatMap(secrets.seal(encode(response), context), (sealed) => repo.finish(held, sealed))
            : repo.release(held)
        ),
        Effect.tapErrorCause(() => repo.release(held)),
        Effect.raceFirst(keepAlive)
      )
      // The work goes on when the caller disconnects: its retry must find the response.
      return yield* Effect.flatMap(Effect.forkDaemon(settled), (fiber) => fiber.await).pipe(Effect.flatten)
    })

    return { once, sweep: repo.sweep } as const
  })
}) {}
