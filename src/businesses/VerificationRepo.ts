import { dieOnSql } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"

const CodeRow = Schema.Struct({
  businessId: Schema.String,
  phone: Schema.String,
  codeHash: Schema.Uint8ArrayFromSelf,
  sentAt: Schema.DateFromSelf,
  expiresAt: Schema.DateFromSelf
})

/** Codes that were sent, one a business, and wrong ones that were tried. Its caller holds the business's lock. */
export class VerificationRepo extends Effect.Service<VerificationRepo>()("businesses/VerificationRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const code = SqlSchema.findOne({
      Request: Schema.String,
      Result: CodeRow,
      execute: (businessId) => sql`SELECT * FROM phone_codes WHERE business_id = ${businessId}`
    })
    const tries = SqlSchema.single({
      Request: Schema.Struct({ phone: Schema.String, since: Schema.DateFromSelf }),
      Result: Schema.Struct({ count: Schema.Int }),
      execute: ({ phone, since }) =>
        sql`SELECT count(*)::int AS count FROM phone_tries WHERE phone = ${phone} AND tried_at >= ${since}`
    })
    return {
      code: (businessId: string) => dieOnSql(code(businessId)),
      /** A new code takes the place of the one before. */
      put: (row: typeof CodeRow.Type) =>
        dieOnSql(Effect.asVoid(
          sql`INSERT INTO phone_codes ${sql.insert(row)} ON CONFLICT (business_id) DO UPDATE SET
            phone = excluded.phone, code_hash = excluded.code_hash, sent_at = excluded.sent_at,
            expires_at = excluded.expires_at`
        )),
      /** The code did not go out after all: another need not wait for it. It is good still, should it arrive. */
      notSent: (businessId: string, codeHash: Uint8Array) =>
        dieOnSql(Effect.asVoid(
          sql`UPDATE phone_codes SET sent_at = 'epoch' WHERE business_id = ${businessId} AND code_hash = ${codeHash}`
        )),
      /**
       * How many wrong codes were tried for a number since then, for whichever business. No others are tried until the end
       * of the transaction.
       */
      tries: (phone: string, since: Date) =>
        dieOnSql(Effect.zipRight(
          sql`SELECT pg_advisory_xact_lock(hashtextextended(${`phone_tries ${phone}`}, 0))`,
          Effect.map(tries({ phone, since }), ({ count }) => count)
        )),
      addTry: (phone: string, triedAt: Date) =>
        dieOnSql(Effect.asVoid(sql`INSERT INTO phone_tries ${sql.insert({ phone, triedAt })}`)),
      sweepTries: (before: Date) => dieOnSql(Effect.asVoid(sql`DELETE FROM phone_tries WHERE tried_at <= ${before}`)),
      drop: (businessId: string) =>
        dieOnSql(Effect.asVoid(sql`DELETE FROM phone_codes WHERE business_id = ${businessId}`))
    } as const
  })
}) {}
