import { dieOnSql, one, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { day, type Limited, triesPerMessage } from "./sms-limits.ts"

/** What a limit counts: messages to a number, of an account, or all. */
export interface Scope {
  readonly limit: Limited
  readonly allowed: number
}

interface Message {
  readonly phone: string
  readonly accountId: string
  readonly sentAt: Date
}

/** Messages of the last day, each written down before it goes out. */
export class SmsMessagesRepo extends Effect.Service<SmsMessagesRepo>()("businesses/SmsMessagesRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const within = (limit: Limited, { accountId, phone, sentAt }: Message) => {
      const since = sql`sent_at > ${new Date(sentAt.getTime() - day)}`
      if (limit === "platform") return since
      return limit === "number" ? sql`phone = ${phone} AND ${since}` : sql`account_id = ${accountId} AND ${since}`
    }
    /** The oldest message that must be a day old before there is room for another; null when there is room. */
    const fullSince = one(Schema.Struct({ since: Schema.NullOr(Schema.DateFromSelf) }))(
      ({ allowed, limit }: Scope, message: Message) => {
        const oldestOf = (count: number, also = sql``) =>
          sql`(SELECT sent_at FROM sms_messages WHERE ${within(limit, message)} ${also}
              ORDER BY sent_at DESC OFFSET ${count - 1} LIMIT 1)`
        return sql`SELECT greatest(${oldestOf(allowed, sql`AND NOT refused`)}, ${
          oldestOf(allowed * triesPerMessage)
        }) AS since`
      }
    )
    const insert = SqlSchema.single({
      Request: Schema.Struct({ phone: Schema.String, accountId: Schema.String, sentAt: Schema.DateFromSelf }),
      Result: Schema.Struct({ id: Schema.String }),
      execute: (message) => sql`INSERT INTO sms_messages ${sql.insert(message)} RETURNING id`
    })

    return {
      /**
       * Writes a message down, unless one of the limits is reached: then that limit, and since when. Messages are written
       * down one by one until the transaction that they are part of ends, so that two never take one place.
       */
      claim: (message: Message, scopes: ReadonlyArray<Scope>) =>
        Effect.gen(function*() {
          yield* sql`SELECT pg_advisory_xact_lock(hashtextextended('sms_messages', 0))`
          for (const scope of scopes) {
            const { since } = yield* fullSince(scope, message)
            if (since !== null) return { _tag: "Full" as const, ...scope, since }
          }
          return { _tag: "Claimed" as const, ...yield* insert(message) }
        }).pipe(dieOnSql),
      /** The gateway did not take it. */
      refused: (id: string) => run(sql`UPDATE sms_messages SET refused = true WHERE id = ${id}`),
      sweep: (before: Date) => run(sql`DELETE FROM sms_messages WHERE sent_at <= ${before}`)
    } as const
  })
}) {}
