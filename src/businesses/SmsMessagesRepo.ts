import { Count, dieOnSql, one, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { day, type Scope, triesPerMessage } from "./sms-limits.ts"

const Message = Schema.Struct({
  phone: Schema.String,
  accountId: Schema.String,
  isNewAccount: Schema.Boolean,
  sentAt: Schema.DateFromSelf
})
type Message = typeof Message.Type

/** Messages of the last day, each recorded before it is sent. */
export class SmsMessagesRepo extends Effect.Service<SmsMessagesRepo>()("businesses/SmsMessagesRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const counted = ({ by, limit }: Scope, { accountId, phone, sentAt }: Message) =>
      sql.and([
        sql`sent_at > ${new Date(sentAt.getTime() - day)}`,
        ...(limit === "number" ? [sql`phone = ${phone}`] : []),
        ...(by === "account" ? [sql`account_id = ${accountId}`] : by === "new accounts" ? [sql`is_new_account`] : [])
      ])
    /** When the message was sent that must be a day old before there is room for another; null when there is room. */
    const fullSince = one(Schema.Struct({ since: Schema.NullOr(Schema.DateFromSelf) }))(
      (scope: Scope, message: Message) => {
        const oldestOf = (count: number, also = sql``) =>
          sql`(SELECT sent_at FROM sms_messages WHERE ${counted(scope, message)} ${also}
              ORDER BY sent_at DESC OFFSET ${count - 1} LIMIT 1)`
        return sql`SELECT greatest(${oldestOf(scope.allowed, sql`AND NOT refused`)}, ${
          oldestOf(scope.allowed * triesPerMessage)
        }) AS since`
      }
    )
    const insert = SqlSchema.single({
      Request: Message,
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
            if (since !== null) return { _tag: "Full" as const, scope, since }
          }
          return { _tag: "Claimed" as const, ...yield* insert(message) }
        }).pipe(dieOnSql),
      /** How many went out since then, to anybody. */
      sent: one(Count)((since: Date) =>
        sql`SELECT count(*)::int AS count FROM sms_messages WHERE sent_at > ${since} AND NOT refused`
      ),
      /** Marks a message that the gateway refused. */
      refused: (id: string) => run(sql`UPDATE sms_messages SET refused = true WHERE id = ${id}`),
      sweep: (before: Date) => run(sql`DELETE FROM sms_messages WHERE sent_at <= ${before}`)
    } as const
  })
}) {}
