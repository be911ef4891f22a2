import { AccountId } from "#src/accounts/CurrentActor.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { anyRow, many, maybe, one, run, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema, Struct } from "effect"
import { type Processor } from "./Checkout.ts"
import { PaidAt, SubscriptionRow } from "./Subscription.ts"

const Customer = Schema.Struct({ id: Schema.String, accountId: AccountId })
/** Numbers of readings; far below 2^53. */
const Begun = Schema.Struct({ accountId: AccountId, processor: PaidAt, begun: Schema.NumberFromString })
export type BegunReading = typeof Begun.Type
const Failed = Schema.Struct({ failed: Schema.Int }).pipe(Schema.pluck("failed"))
const Plan = Schema.Struct({ plan: PlanName }).pipe(Schema.pluck("plan"))
const Due = Schema.Struct({ customerId: Schema.String, processor: PaidAt })
export type DueCustomer = typeof Due.Type

/** Accounts as customers of a processor, their subscriptions, and the processor's events that were applied. */
export class SubscriptionsRepo extends Effect.Service<SubscriptionsRepo>()("billing/SubscriptionsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const claim = (customerId: string, number: number, now: Date) =>
      anyRow(sql`UPDATE billing_customers SET applied = ${number}, synced_at = ${now}
        WHERE id = ${customerId} AND applied < ${number} RETURNING id`)

    const rows = sql`SELECT s.*, c.processor FROM subscriptions s JOIN billing_customers c ON c.id = s.customer_id`

    const upsert = (row: SubscriptionRow, now: Date) =>
      run(sql`INSERT INTO subscriptions ${sql.insert({ ...Struct.omit(row, "processor"), updatedAt: now })}
        ON CONFLICT (id) DO UPDATE SET plan = excluded.plan, status = excluded.status,
          current_period_start = excluded.current_period_start, current_period_end = excluded.current_period_end,
          cancels_at = excluded.cancels_at, due_at = excluded.due_at, revision = excluded.revision,
          updated_at = excluded.updated_at`)

    return {
      customerOf: maybe(Customer)((accountId: string, processor: Processor) =>
        sql`SELECT id, account_id FROM billing_customers WHERE account_id = ${accountId} AND processor = ${processor}`
      ),
      /** How often an account's customer could not be made. */
      failedCustomers: one(Failed)((accountId: string) =>
        sql`SELECT coalesce((SELECT failed FROM billing_customer_attempts WHERE account_id = ${accountId}), 0) AS failed`
      ),
      /** Of calls that failed together each says the same number: a later call, which may succeed, keeps its own. */
      customerFailed: (accountId: string, failed: number) =>
        run(sql`INSERT INTO billing_customer_attempts AS a (account_id, failed) VALUES (${accountId}, ${failed})
          ON CONFLICT (account_id) DO UPDATE SET failed = greatest(a.failed, excluded.failed)`),
      isCustomer: (id: string) => anyRow(sql`SELECT id FROM billing_customers WHERE id = ${id}`),
      /** Stores an account's customer. Of two at once the first stays. */
      addCustomer: (accountId: string, processor: Processor, id: string) =>
        run(sql`INSERT INTO billing_customers (id, account_id, processor)
          SELECT ${id}, id, ${processor} FROM users WHERE id = ${accountId} ON CONFLICT DO NOTHING`),
      /** Puts a new customer in the place of one that is gone; its checkouts are gone with it. */
      replaceCustomer: (id: string, gone: string) =>
        transactionally(sql)(Effect.zipRight(
          sql`DELETE FROM billing_checkouts WHERE customer_id = ${gone}`,
          sql`UPDATE billing_customers SET id = ${id} WHERE id = ${gone}`
        )),
      /** Begins a reading of the processor's state: its number, and whose it is. None for an unknown customer. */
      beginReading: maybe(Begun)((customerId: string) =>
        sql`UPDATE billing_customers SET begun = begun + 1 WHERE id = ${customerId} 
            RETURNING account_id, processor, begun::text`
      ),
      /** Whether this reading is the newest; until the end of the transaction no other one is applied. */
      claimReading: claim,
      ofCustomer: many(SubscriptionRow)((customerId: string) => sql`${rows} WHERE s.customer_id = ${customerId}`),
      /** Of all its customers: an account has one at each processor that was ever set up. */
      ofAccount: many(SubscriptionRow)((accountId: string) =>
        sql`${rows} WHERE s.account_id = ${accountId} ORDER BY s.created_at DESC`
      ),
      planOf: one(Plan)((accountId: string) => sql`SELECT plan FROM users WHERE id = ${accountId}`),
      upsert,
      /** After a call that failed: the next one must not get its answer again. */
      revise: (id: string) => run(sql`UPDATE subscriptions SET revision = revision + 1 WHERE id = ${id}`),
      /** Whether the event is new; recorded with the caller's transaction. */
      recordEvent: (id: string, now: Date) =>
        anyRow(sql`INSERT INTO billing_events (id, received_at) VALUES (${id}, ${now})
          ON CONFLICT DO NOTHING RETURNING id`),
      isRecorded: (id: string) => anyRow(sql`SELECT id FROM billing_events WHERE id = ${id}`),
      forgetEvents: (before: Date) => run(sql`DELETE FROM billing_events WHERE received_at < ${before}`),
      /** Customers with a subscription that changes by now, the longest due first. */
      due: many(Due)((now: Date) =>
        sql`SELECT s.customer_id, c.processor FROM subscriptions s JOIN billing_customers c ON c.id = s.customer_id
            WHERE s.status <> 'canceled' AND s.due_at <= ${now}
            GROUP BY s.customer_id, c.processor ORDER BY min(s.due_at) LIMIT 200`
      ),
      postpone: (customerId: string, until: Date) =>
        run(sql`UPDATE subscriptions SET due_at = greatest(due_at, ${until}) WHERE customer_id = ${customerId}`),
      /**
       * Customers whose state was last read before then. Those that could not be read for longest come last, so that
       * they keep nobody back.
       */
      unread: many(Customer)((processor: Processor, before: Date) =>
        sql`SELECT id, account_id FROM billing_customers
            WHERE processor = ${processor} AND (synced_at IS NULL OR synced_at < ${before})
            ORDER BY synced_at DESC NULLS LAST, id LIMIT 100000`
      )
    } as const
  })
}) {}
