import { expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { useBerth } from "../support/Berth.ts"
import { checkoutPath } from "../support/checkout.ts"
import { holdLock, runSql } from "../support/sql.ts"

const berth = useBerth()

/** The transaction of a payment that commits after a call of subscribe has read that there is no subscription. */
const payment = (checkoutId: string, accountId: string) =>
  `LOCK TABLE billing_checkouts IN ACCESS EXCLUSIVE MODE;
   UPDATE embedded_checkouts SET closed = true WHERE id = '${checkoutId}';
   INSERT INTO embedded_subscriptions (id, checkout_id, customer_id, plan, started_at, renewals)
     SELECT 'sub_${accountId}', id, customer_id, plan, now(), 'paid' FROM embedded_checkouts WHERE id = '${checkoutId}';
   INSERT INTO subscriptions (id, customer_id, account_id, plan, status, current_period_start, current_period_end,
       due_at, revision, created_at, updated_at)
     SELECT 'sub_${accountId}', id, account_id, 'developer', 'active', now(), now() + interval '1 month', now() + interval '1 month',
       0, now(), now() FROM billing_customers WHERE account_id = '${accountId}';
   UPDATE billing_checkouts SET paid = true WHERE id = '${checkoutId}'`

it.each(["developer", "pro"])(
  "a page that is paid while another call asks for one leads to no second: %s",
  async (plan) => {
    const account = await berth.signUp()
    const checkoutId = (await checkoutPath(berth, account)).split("/").at(-1) ?? ""
    const commit = await holdLock(berth.databaseUrl, payment(checkoutId, account.id), [])
    const asked = account.post("/v1/billing/subscribe", { plan })
    await expect.poll(() =>
      runSql(
        berth.databaseUrl,
        `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM billing_checkouts%'`
      ), { timeout: 10_000 }).toHaveLength(1)
    await commit()
    const answer = await asked
    expect([answer.status, answer.body]).toEqual([409, failure("CONFLICT")])
    expect(answer.text).toContain("was paid just now")
    await runSql(berth.databaseUrl, "DELETE FROM embedded_subscriptions WHERE id = $1", [`sub_${account.id}`])
    await runSql(berth.databaseUrl, "DELETE FROM subscriptions WHERE id = $1", [`sub_${account.id}`])
    expect((await account.post("/v1/billing/subscribe", { plan })).status, "once it has ended").toBe(201)
  }
)
