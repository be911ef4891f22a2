import { anyRow, maybe, one, run, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { decayInterval, type Tally } from "./slowdown.ts"

/** Hashes: of the caller's address with the e-mail address, and of the e-mail address alone. */
export interface Origin {
  readonly bucket: Uint8Array
  readonly account: Uint8Array
}

const Recent = Schema.Struct({ count: Schema.Int, oldest: Schema.DateFromSelf })

/** Attempts to log in, counted by address and account, and by account alone. */
export class AttemptsRepo extends Effect.Service<AttemptsRepo>()("accounts/AttemptsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const tally = maybe(Schema.Struct({ failures: Schema.Number, countedAt: Schema.DateFromSelf }))((
      account: Uint8Array
    ) => sql`SELECT failures, counted_at FROM login_tallies WHERE account = ${account}`)

    return {
      /** Runs in a transaction that serialises attempts of the same origin or for the same account. */
      oneByOne: <A, E, R>({ account, bucket }: Origin, work: Effect.Effect<A, E, R>) =>
        Effect.forEach(
          [bucket, account],
          (hash) => sql`SELECT pg_advisory_xact_lock(hashtextextended(encode(${hash}, 'hex'), 0))`,
          { discard: true }
        ).pipe(Effect.zipRight(work), transactionally(sql)),
      /** How many were made since then, and when the first of them was. */
      recent: one(Recent)(({ bucket }: Origin, since: Date) =>
        sql`SELECT count(*)::int AS count, coalesce(min(attempted_at), now()) AS oldest
            FROM login_attempts WHERE bucket = ${bucket} AND attempted_at > ${since}`
      ),
      /** Whether a log-in from this origin has succeeded since then. */
      isKnown: ({ bucket }: Origin, since: Date) =>
        anyRow(sql`SELECT succeeded_at FROM known_logins WHERE bucket = ${bucket} AND succeeded_at > ${since}`),
      tally: ({ account }: Origin) => Effect.map(tally(account), Option.getOrUndefined),
      add: ({ bucket }: Origin, attemptedAt: Date) =>
        run(sql`INSERT INTO login_attempts ${sql.insert({ bucket, attemptedAt })}`),
      putTally: ({ account }: Origin, { countedAt, failures }: Tally) =>
        run(
          sql`INSERT INTO login_tallies ${sql.insert({ account, failures, countedAt })} ON CONFLICT (account)
              DO UPDATE SET failures = excluded.failures, counted_at = excluded.counted_at`
        ),
      /** Uncounts one attempt, because it succeeded. */
      lowerTally: ({ account }: Origin) =>
        run(sql`UPDATE login_tallies SET failures = greatest(0, failures - 1) WHERE account = ${account}`),
      /** Deletes the origin's own failures, and records it as known. */
      succeeded: ({ bucket }: Origin, succeededAt: Date) =>
        run(
          sql`DELETE FROM login_attempts WHERE bucket = ${bucket}`.pipe(
            Effect.zipRight(sql`INSERT INTO known_logins ${sql.insert({ bucket, succeededAt })}
              ON CONFLICT (bucket) DO UPDATE SET succeeded_at = excluded.succeeded_at`)
          )
        ),
      /** Deletes what no longer counts: attempts and known origins from before these times, tallies that fell to 0. */
      sweep: (before: { readonly attempts: Date; readonly known: Date }, at: Date) =>
        run(
          sql`DELETE FROM login_attempts WHERE attempted_at <= ${before.attempts}`.pipe(
            Effect.zipRight(sql`DELETE FROM known_logins WHERE succeeded_at <= ${before.known}`),
            Effect.zipRight(sql`DELETE FROM login_tallies
              WHERE counted_at + make_interval(secs => failures * ${decayInterval / 1000}) <= ${at}`)
          )
        )
    } as const
  })
}) {}
