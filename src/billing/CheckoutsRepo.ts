import { AccountId } from "#src/accounts/CurrentActor.ts"
import { anyRow, maybe, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { PaidPlan } from "./Subscription.ts"

/** A row of billing_checkouts. */
const CheckoutRow = Schema.Struct({
  accountId: AccountId,
  id: Schema.String,
  plan: PaidPlan,
  customerId: Schema.String,
  /** The processor's id of it, and its page; null until the processor has answered. */
  sessionId: Schema.NullOr(Schema.String),
  url: Schema.NullOr(Schema.String),
  /** Whether it led to a subscription. */
  paid: Schema.Boolean,
  createdAt: Schema.DateFromSelf
})
export type CheckoutRow = typeof CheckoutRow.Type
export type NewCheckout = Omit<CheckoutRow, "sessionId" | "url" | "paid">

/** Whether a text has the form of a checkout's id (`randomToken`): others may hold what PostgreSQL does not take. */
export const isCheckoutId = (text: string) => /^[\w-]{43}$/.test(text)

/** The last checkout of each account: there is one row, so that two can never be open. */
export class CheckoutsRepo extends Effect.Service<CheckoutsRepo>()("billing/CheckoutsRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    ofAccount: maybe(CheckoutRow)((accountId: string) =>
      sql`SELECT * FROM billing_checkouts WHERE account_id = ${accountId}`
    ),
    find: maybe(CheckoutRow)((id: string) =>
      sql`SELECT * FROM billing_checkouts WHERE id = ${isCheckoutId(id) ? id : ""}`
    ),
    /** Puts it in the place of `previous`; false when another caller was faster. */
    begin: (checkout: NewCheckout, previous: string | undefined) =>
      anyRow(
        previous === undefined
          ? sql`INSERT INTO billing_checkouts ${sql.insert(checkout)} ON CONFLICT DO NOTHING RETURNING id`
          : sql`UPDATE billing_checkouts SET ${
            sql.update({ ...checkout, sessionId: null, url: null, paid: false }, ["accountId"])
          } WHERE account_id = ${checkout.accountId} AND id = ${previous} RETURNING id`
      ),
    /** Stores the processor's answer; false when another checkout has taken its place. */
    opened: (id: string, sessionId: string, url: string) =>
      anyRow(
        sql`UPDATE billing_checkouts SET session_id = ${sessionId}, url = ${url} WHERE id = ${id} RETURNING id`
      ),
    /** Forgets one that the processor did not open: nobody has its address. */
    drop: (id: string) => run(sql`DELETE FROM billing_checkouts WHERE id = ${id} AND url IS NULL`),
    paid: (customerId: string) =>
      run(sql`UPDATE billing_checkouts SET paid = true WHERE customer_id = ${customerId} AND NOT paid`)
  }))
}) {}
