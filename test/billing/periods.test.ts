import { Effect, Exit, Scope } from "effect"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { Berth, useBerth } from "../support/Berth.ts"
import { freshDatabaseUrl } from "../support/Database.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { stripeVariables, useStripe } from "../support/stripe.ts"

const stripe = await useStripe()
const berth = useBerth({ variables: stripeVariables(stripe.url) })
beforeAll(() => void (stripe.now = berth.now))

const checkoutOf = async (account: Account) => {
  const answer = await account.post<{ data: { url: string } }>("/v1/billing/subscribe", { plan: "developer" })
  return dataOf(answer).url.split("/").at(-1) ?? ""
}
const syncOnReturn = async (sessionId: string) => {
  const { success_url } = stripe.sessions.get(sessionId)!
  await berth.request("GET", success_url.slice(berth.url.length))
}

describe("time", () => {
  it("moved over the end of a period renews what is paid and ends what was canceled, without any event", async () => {
    const [renewed, canceled] = [await berth.signUp(), await berth.signUp()]
    for (const account of [renewed, canceled]) {
      const id = await checkoutOf(account)
      stripe.pay(id)
      await syncOnReturn(id)
    }
    await canceled.delete("/v1/billing/subscribe")
    berth.advance(32 * 24 * 60 * 60_000)
    const stateOf = async ({ id }: Account) => {
      const [row] = await runSql(
        berth.databaseUrl,
        `SELECT u.plan || ' ' || s.status AS state, s.current_period_end > $2 AS current
          FROM users u JOIN subscriptions s ON s.account_id = u.id WHERE u.id = $1`,
        [id, new Date(berth.now())]
      )
      return row
    }
    await expect.poll(() => (berth.hurry(10_000), stateOf(canceled)), { timeout: 40_000 }).toMatchObject({
      state: "free canceled"
    })
    await expect.poll(() => (berth.hurry(10_000), stateOf(renewed)), { timeout: 40_000 })
      .toEqual({ state: "developer active", current: true })
  }, 100_000)

  it(
    "a period that ends while the platform is down ends with its next start, also while Stripe can't be reached",
    async () => {
      const scope = Effect.runSync(Scope.make())
      onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)))
      const databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
      const home = { BERTH_HOME: temporaryDirectory() }
      const first = await new Berth().start({ databaseUrl, variables: { ...home, ...stripeVariables(stripe.url) } })
      stripe.now = first.now
      const [renewed, canceled] = [await first.signUp(), await first.signUp()]
      for (const account of [renewed, canceled]) {
        const id = await checkoutOf(account)
        stripe.pay(id)
        await first.request("GET", stripe.sessions.get(id)!.success_url.slice(first.url.length))
      }
      await canceled.delete("/v1/billing/subscribe")
      // Days pass: as if everything had begun earlier.
      await runSql(
        databaseUrl,
        `UPDATE subscriptions SET due_at = due_at - interval '32 days', cancels_at = cancels_at - interval '32 days',
        current_period_end = current_period_end - interval '32 days'`
      )
      await first.stop()
      const nobody = stripeVariables("http://127.0.0.1:9")
      const planOf = async (account: Account) =>
        (await runSql(databaseUrl, "SELECT plan FROM users WHERE id = $1", [account.id]))[0]?.["plan"]
      const second = await new Berth().start({ databaseUrl, variables: { ...home, ...nobody } })
      await expect.poll(() => (second.hurry(10_000), planOf(canceled)), { timeout: 40_000 }).toBe("free")
      expect(await planOf(renewed)).toBe("developer")
      await second.stop()
    },
    120_000
  )
})
