import { Count, dieOnSql, maybe, one, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const CodeRow = Schema.Struct({
  businessId: Schema.String,
  phone: Schema.String,
  codeHash: Schema.Uint8ArrayFromSelf,
  sentAt: Schema.DateFromSelf,
  expiresAt: Schema.DateFromSelf
})

/** What wrong tries count by: a stranger's do not use up those of the number's owner. */
interface Target {
  readonly phone: string
  readonly accountId: string
}

/** Codes that were sent, one per business, and wrong tries. Callers must hold the business's lock. */
export class VerificationRepo extends Effect.Service<VerificationRepo>()("businesses/VerificationRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const tries = one(Count)(({ accountId, phone }: Target, since: Date) =>
      sql`SELECT count(*)::int AS count FROM phone_tries
          WHERE phone = ${phone} AND account_id = ${accountId} AND tried_at >= ${since}`
    )
    return {
      code: maybe(CodeRow)((businessId: string) => sql`SELECT * FROM phone_codes WHERE business_id = ${businessId}`),
      /** A new code replaces the one before. */
      put: (row: typeof CodeRow.Type) =>
        run(
          sql`INSERT INTO phone_codes ${sql.insert(row)} ON CONFLICT (business_id) DO UPDATE SET
            phone = excluded.phone, code_hash = excluded.code_hash, sent_at = excluded.sent_at,
            expires_at = excluded.expires_at`
        ),
      /** The code was not sent: the next one need not wait. It stays valid, in case it does arrive. */
      notSent: (businessId: string, codeHash: Uint8Array) =>
        run(
          sql`UPDATE phone_codes SET sent_at = 'epoch' WHERE business_id = ${businessId} AND code_hash = ${codeHash}`
        ),
      /**
       * How many wrong codes an account tried for a number since then, for any of its businesses. Locks out other tries
       * for the number until the end of the transaction.
       */
      tries: (target: Target, since: Date) =>
        dieOnSql(Effect.zipRight(
          sql`SELECT pg_advisory_xact_lock(hashtextextended(${`phone_tries ${target.phone}`}, 0))`,
          tries(target, since)
        )),
      addTry: (target: Target, triedAt: Date) =>
        run(sql`INSERT INTO phone_tries ${sql.insert({ ...target, triedAt })}`),
      sweepTries: (before: Date) => run(sql`DELETE FROM phone_tries WHERE tried_at <= ${before}`),
      drop: (businessId: string) => run(sql`DELETE FROM phone_codes WHERE business_id = ${businessId}`)
    } as const
  })
}) {}
