import { anyRow, many, maybe, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { isCheckoutId } from "./CheckoutsRepo.ts"
import { EmbeddedSubscription, type Renewals } from "./embedded-subscription.ts"
import { PaidPlan } from "./Subscription.ts"

const EmbeddedCheckoutRow = Schema.Struct({
  id: Schema.String,
  customerId: Schema.String,
  plan: PaidPlan,
  returnUrl: Schema.String,
  expiresAt: Schema.DateFromSelf,
  /** Paid, or closed by us. */
  closed: Schema.Boolean
})
export type EmbeddedCheckoutRow = typeof EmbeddedCheckoutRow.Type

/** What the stand-in processor stores. */
export class EmbeddedRepo extends Effect.Service<EmbeddedRepo>()("billing/EmbeddedRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    insertCheckout: (row: Omit<EmbeddedCheckoutRow, "closed">) =>
      run(sql`INSERT INTO embedded_checkouts ${sql.insert(row)} ON CONFLICT DO NOTHING`),
    checkout: maybe(EmbeddedCheckoutRow)((id: string) =>
      sql`SELECT * FROM embedded_checkouts WHERE id = ${isCheckoutId(id) ? id : ""}`
    ),
    /** Closes one that is open; false when it was closed before. */
    close: (id: string) =>
      anyRow(sql`UPDATE embedded_checkouts SET closed = true WHERE id = ${id} AND NOT closed RETURNING id`),
    isPaid: (checkoutId: string) =>
      anyRow(sql`SELECT id FROM embedded_subscriptions WHERE checkout_id = ${checkoutId}`),
    subscribe: (
      row: {
        readonly id: string
        readonly checkoutId: string
        readonly customerId: string
        readonly plan: PaidPlan
        readonly startedAt: Date
        readonly renewals: Renewals
      }
    ) => run(sql`INSERT INTO embedded_subscriptions ${sql.insert(row)}`),
    ofCustomer: many(EmbeddedSubscription)((customerId: string) =>
      sql`SELECT * FROM embedded_subscriptions WHERE customer_id = ${customerId}`
    ),
    ofCheckout: maybe(EmbeddedSubscription)((checkoutId: string) =>
      sql`SELECT * FROM embedded_subscriptions WHERE checkout_id = ${checkoutId}`
    ),
    find: maybe(EmbeddedSubscription)((id: string) => sql`SELECT * FROM embedded_subscriptions WHERE id = ${id}`),
    change: (id: string, { cancelsAt, plan }: Pick<EmbeddedSubscription, "plan" | "cancelsAt">) =>
      run(sql`UPDATE embedded_subscriptions SET plan = ${plan}, cancels_at = ${cancelsAt} WHERE id = ${id}`),
    forgetCheckouts: (before: Date) => run(sql`DELETE FROM embedded_checkouts WHERE expires_at < ${before}`)
  }))
}) {}
