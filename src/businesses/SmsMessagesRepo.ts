import { dieOnSql, one, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { day, type LimitKind, triesPerMessage } from "./sms-limits.ts"

/** A limit, and how many messages it allows: to a number, by an account, or in all. */
export interface Scope {
  readonly limit: LimitKind
  readonly allowed: number
}

interface Message {
  readonly phone: string
  readonly accountId: string
  readonly sentAt: Date
}

/** Messages of the last day, each recorded before it is sent. */
export class SmsMessagesRepo extends Effect.Service<SmsMessagesRepo>()("businesses/SmsMessagesRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const within = (limit: LimitKind, { accountId, phone, sentAt }: Message) => {
      const since = sql`sent_at > ${new Date(sentAt.getTime() - day)}`
      if (limit === "platform") return since
      return limit === "number" ? sql`phone = ${phone} AND ${since}` : sql`account_id = ${accountId} AND ${since}`
    }
    /** When the message was sent that must be a day old before there is room for another; null when there is room. */
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
       * Records a message, unless a limit is reached: then returns that limit and since when. Claims are serialised
       * until the end of their transaction, so that two never take the same place.
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
      /** Marks a message that the gateway refused. */
      refused: (id: string) => run(sql`UPDATE sms_messages SET refused = true WHERE id = ${id}`),
      sweep: (before: Date) => run(sql`DELETE FROM sms_messages WHERE sent_at <= ${before}`)
    } as const
  })
}) {}
