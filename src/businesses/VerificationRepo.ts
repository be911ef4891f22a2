import { dieOnSql } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"

const CodeRow = Schema.Struct({
  businessId: Schema.String,
  phone: Schema.String,
  codeHash: Schema.Uint8ArrayFromSelf,
  tries: Schema.Int,
  sentAt: Schema.DateFromSelf,
  expiresAt: Schema.DateFromSelf
})

/** Codes that were sent; one a business. Its caller holds the business's lock. */
export class VerificationRepo extends Effect.Service<VerificationRepo>()("businesses/VerificationRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const code = SqlSchema.findOne({
      Request: Schema.String,
      Result: CodeRow,
      execute: (businessId) => sql`SELECT * FROM phone_codes WHERE business_id = ${businessId}`
    })
    return {
      code: (businessId: string) => dieOnSql(code(businessId)),
      /** A new code takes the place of the one before. */
      put: (row: typeof CodeRow.Type) =>
        dieOnSql(Effect.asVoid(
          sql`INSERT INTO phone_codes ${sql.insert(row)} ON CONFLICT (business_id) DO UPDATE SET
            phone = excluded.phone, code_hash = excluded.code_hash, tries = 0, sent_at = excluded.sent_at,
            expires_at = excluded.expires_at`
        )),
      /** The code did not go out after all: another need not wait for it. It is good still, should it arrive. */
      notSent: (businessId: string, codeHash: Uint8Array) =>
        dieOnSql(Effect.asVoid(
          sql`UPDATE phone_codes SET sent_at = 'epoch' WHERE business_id = ${businessId} AND code_hash = ${codeHash}`
        )),
      countTry: (businessId: string) =>
        dieOnSql(Effect.asVoid(sql`UPDATE phone_codes SET tries = tries + 1 WHERE business_id = ${businessId}`)),
      drop: (businessId: string) =>
        dieOnSql(Effect.asVoid(sql`DELETE FROM phone_codes WHERE business_id = ${businessId}`))
    } as const
  })
}) {}
