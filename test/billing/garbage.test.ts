import { callSignal, stripeFetch } from "#src/billing/stripe-http.ts"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo } from "node:net"
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account, dataOf } from "../support/account.ts"
import { Berth, useBerth } from "../support/Berth.ts"
import { statusOf } from "../support/checkout.ts"
import { runSql } from "../support/sql.ts"
import { signatureOf, stripeVariables, useStripe, webhookSecret } from "../support/stripe.ts"

const stripe = await useStripe()
const berth = useBerth({ variables: stripeVariables(stripe.url) })
beforeAll(() => void (stripe.now = berth.now))
afterEach(() => void (stripe.instead = () => undefined))

const subscribe = (account: Account, plan = "developer") =>
  account.post<{ data: { url: string } }>("/v1/billing/subscribe", { plan })
const sessionOf = async (account: Account) => dataOf(await subscribe(account)).url.split("/").at(-1) ?? ""
const send = (body: string) =>
  berth.request("POST", "/api/v1/billing/webhook", {
    body,
    headers: { "stripe-signature": signatureOf(body, webhookSecret, Math.floor(berth.now() / 1000)) }
  })
const answers = (text: string, to = "") => void (stripe.instead = (call) => call.includes(to) ? { text } : undefined)
const listOf = (...data: ReadonlyArray<unknown>) => JSON.stringify({ object: "list", data, has_more: false })

describe("what Stripe, or a proxy before it, answers", () => {
  it.each(["1", "\"x\"", "true", "null", "[]", "", "<html>", "{\"id\":7"])(
    "without an object of its API (%s) is none: 503, and the platform goes on",
    async (text) => {
      const account = await berth.signUp()
      answers(text)
      const answer = await subscribe(account)
      expect([answer.status, answer.body]).toEqual([503, failure("SERVICE_UNAVAILABLE")])
      stripe.instead = () => undefined
      expect((await subscribe(account)).status).toBe(201)
    },
    20_000
  )

  it("with a status of failure and no failure of Stripe is none; a redirect is not followed", async () => {
    const account = await berth.signUp()
    for (const [status, text] of [[404, "{}"], [403, "<html>"], [302, "{\"id\":\"cus_1\"}"]] as const) {
      stripe.instead = () => ({ status, text })
      expect((await subscribe(account)).status, String(status)).toBe(503)
    }
    expect(berth.logged.join("\n")).toMatch(/Stripe gave no usable answer: it answered 302 with something that is not/)
  }, 30_000)

  it("as a new customer or page that is none: 503, and nothing is stored of it", async () => {
    const account = await berth.signUp()
    for (const made of ["{}", "{\"id\":null}", "{\"id\":\"\"}", "{\"id\":\"cus_\\u0000\"}"]) {
      answers(made, "POST /v1/customers")
      expect((await subscribe(account)).status, made).toBe(503)
    }
    const rows = (table: string) =>
      runSql(berth.databaseUrl, `SELECT id FROM ${table} WHERE account_id = $1`, [account.id])
    expect(await rows("billing_customers")).toEqual([])
    for (const opened of ["{}", "{\"id\":\"cs_1\"}", "{\"id\":\"cs_1\",\"url\":7}"]) {
      answers(opened, "POST /v1/checkout/sessions")
      expect((await subscribe(account)).status, opened).toBe(503)
    }
    expect(await rows("billing_checkouts")).toEqual([])
    expect(berth.logged.join("\n")).toMatch(/Stripe gave no usable answer: id is required/)
  })

  it("as subscriptions that are none: 503, a line in the log, and the account keeps what it has", async () => {
    const account = await berth.signUp()
    const paid = stripe.pay(await sessionOf(account))
    await send(stripe.events.at(-1) ?? "")
    const [item] = paid.items.data
    const lists = [
      "{}",
      listOf(null),
      listOf({ id: "sub_z" }),
      listOf({ ...paid, created: "yesterday" }),
      listOf({ ...paid, cancel_at: 9e15 }),
      listOf({ ...paid, items: { data: [{ ...item, current_period_end: -1 }] } }),
      listOf({ ...paid, id: "sub_\u0000" })
    ]
    for (const [at, list] of lists.entries()) {
      answers(list, "GET /v1/subscriptions?")
      const answer = await account.patch("/v1/billing/plan", { plan: "pro" })
      expect([answer.status, answer.body], list).toEqual([503, failure("SERVICE_UNAVAILABLE")])
      const event = JSON.stringify({ id: `evt_spoiled_${at}`, data: { object: { customer: paid.customer } } })
      expect((await send(event)).status, list).toBe(503)
    }
    expect(await statusOf(account)).toBe("developer active")
    expect(berth.logged.join("\n")).toMatch(/Stripe gave no usable answer: 0\.status is required/)
  })
})

describe("an answer that comes a byte at a time", () => {
  const slowly = async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      const timer = setInterval(() => response.write(" "), 50)
      response.on("close", () => clearInterval(timer))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    onTestFinished(() => void server.close().closeAllConnections())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it("is given up by the time of the request, and by that of the whole call", async () => {
    const url = await slowly()
    await expect(stripeFetch(url, { signal: AbortSignal.timeout(200) })).rejects.toThrow(/timeout/)
    const call = callSignal.run(AbortSignal.timeout(200), () => stripeFetch(url))
    await expect(call).rejects.toThrow(/timeout/)
  })

  it("is 503 once the call has taken 25 seconds", async () => {
    const slow = await new Berth().start({ variables: stripeVariables(await slowly()) })
    onTestFinished(() => slow.stop())
    const account = await slow.signUp()
    let status = 0
    void subscribe(account).then((answer) => (status = answer.status))
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(status).toBe(0)
    await expect.poll(() => (slow.hurry(25_000), status)).toBe(503)
  })
})
