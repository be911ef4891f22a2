import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Account, signUp } from "../support/account.ts"
import { billingOf, checkoutPath, decideOn, statusOf } from "../support/checkout.ts"
import { freshDatabaseUrl } from "../support/Database.ts"
import { send } from "../support/http.ts"
import { describeLong } from "../support/needs.ts"
import { type Site } from "../support/pages.ts"
import { runSql } from "../support/sql.ts"
import { build, clear, newPlace, type Place, type Program, run, sweep } from "./support/program.ts"

describeLong("a period that ends while the program is down", () => {
  const scope = Effect.runSync(Scope.make())
  let place: Place
  let program: Program
  let databaseUrl: string

  const start = async () => {
    program = run(place, ["node", "dist/berth.js", "serve", "--no-demo"], {
      DATABASE_URL: databaseUrl,
      TRUST_PROXY: "1"
    })
    await program.printed(/Berth is ready/)
  }
  const request: Site["request"] = (method, path, sent) => send(`http://127.0.0.1:${place.port}`, method, path, sent)

  beforeAll(async () => {
    place = await newPlace()
    await build(place)
    databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
    await start()
  }, 120_000)
  afterAll(async () => {
    await program.end("SIGTERM")
    sweep(place)
    clear(place)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }, 60_000)

  const subscriber = async (renewals: string) => {
    const account = await signUp({ databaseUrl, request }, "free")
    const site = { url: program.url, request }
    const { answer } = await decideOn(site, await checkoutPath(site, account, "pro"), "pay", renewals)
    expect([answer.status, await statusOf(account)]).toEqual([303, "pro active"])
    return account
  }
  /** As if all had begun so much earlier. */
  const pass = (days: number) =>
    runSql(
      databaseUrl,
      `DO $$ DECLARE past interval := '${days} days'; BEGIN
         UPDATE embedded_subscriptions SET started_at = started_at - past, cancels_at = cancels_at - past;
         UPDATE subscriptions SET current_period_start = current_period_start - past,
           current_period_end = current_period_end - past, cancels_at = cancels_at - past, due_at = due_at - past;
         UPDATE users SET period_start = period_start - past, period_end = period_end - past;
       END $$`
    )
  const eventually = (account: Account, status: string) =>
    expect.poll(() => statusOf(account), { timeout: 40_000, interval: 250 }).toBe(status)

  it("ends with the next start: what was canceled drops to free, what is paid is renewed", async () => {
    const [canceled, paid, declined] = [
      await subscriber("paid"),
      await subscriber("paid"),
      await subscriber("declined")
    ]
    expect((await canceled.delete("/v1/billing/subscribe")).status).toBe(204)
    await program.end("SIGKILL")
    await pass(32)
    await start()
    await eventually(canceled, "free canceled")
    await eventually(declined, "pro past_due")
    await expect.poll(async () => Date.parse((await billingOf(paid)).currentPeriodEnd), { timeout: 20_000 })
      .toBeGreaterThan(Date.now())
    expect(await statusOf(paid)).toBe("pro active")
    expect((await billingOf(canceled)).currentPeriodStart).toMatch(/-01T00:00:00.000Z$/)
    expect((await canceled.delete("/v1/billing/subscribe")).status).toBe(409)

    await program.end("SIGTERM")
    await pass(8)
    await start()
    await eventually(declined, "free canceled")
    expect([await statusOf(canceled), await statusOf(paid)]).toEqual(["free canceled", "pro active"])
  }, 180_000)
})
