import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { checkoutPath, decideOn, statusOf } from "../support/checkout.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"

const berth = useBerth()
let account: Account
let client: Client
beforeAll(async () => {
  account = await berth.signUp()
  client = await connectMcp(berth.url, { token: account.token })
})
afterAll(() => client.close())

/** What a tool answers: its value, or the body of its failure. */
const call = async (name: string, args: Readonly<Record<string, unknown>> = {}) => {
  const result = await callTool(client, name, args)
  return { failed: result.isError === true, value: textOf(result) }
}
const done = { failed: false, value: undefined }
const refused = (message: RegExp) => ({
  failed: true,
  value: { error: { code: "CONFLICT", message: expect.stringMatching(message) } }
})
/** `get_billing` and `GET /v1/billing` say the same. */
const expectStatus = async (status: string) => {
  expect(await statusOf(account)).toBe(status)
  expect({ data: (await call("get_billing")).value }).toEqual((await account.get("/v1/billing")).body)
}

describe("a subscription that an agent begins, switches and cancels", () => {
  it("goes by the tools as it does over HTTP, and each refuses what it refuses there", async () => {
    await expectStatus("free active")
    expect(await call("change_plan", { plan: "pro" })).toEqual(refused(/is on the free plan/))
    expect(await call("cancel_subscription")).toEqual(refused(/is on the free plan/))

    const path = await checkoutPath(berth, account)
    expect(await call("subscribe", { plan: "developer" })).toEqual({
      failed: false,
      value: { url: `${berth.url}${path}` }
    })
    await expectStatus("free active")
    expect((await decideOn(berth, path, "pay")).answer.status).toBe(303)
    await expectStatus("developer active")
    expect(await call("subscribe", { plan: "pro" })).toEqual(refused(/pays for the developer plan already/))

    for (const plan of ["pro", "pro", "enterprise"]) {
      expect(await call("change_plan", { plan })).toEqual(done)
      await expectStatus(`${plan} active`)
    }
    for (let times = 0; times < 2; times++) {
      expect(await call("cancel_subscription")).toEqual(done)
      await expectStatus("enterprise active, canceled")
    }
    expect(await call("subscribe", { plan: "pro" })).toEqual(refused(/pays for the enterprise plan already/))
    expect(await call("change_plan", { plan: "enterprise" })).toEqual(done)
    await expectStatus("enterprise active")
    expect((await account.delete("/v1/billing/subscribe")).status).toBe(204)
    expect(await call("cancel_subscription"), "canceled over HTTP").toEqual(done)
    await expectStatus("enterprise active, canceled")
    expect({ data: (await call("get_usage")).value }).toEqual((await account.get("/v1/billing/usage")).body)
    expect((await call("list_plans")).value).toEqual((await account.get("/v1/plans")).body)
  })

  it("is not an API key's to change, by either door", async () => {
    const { key } = await account.key((await account.project()).id)
    const holder = await connectMcp(berth.url, { token: key })
    const changes = [
      ["POST", "/v1/billing/subscribe", "subscribe", { plan: "pro" }],
      ["PATCH", "/v1/billing/plan", "change_plan", { plan: "pro" }],
      ["DELETE", "/v1/billing/subscribe", "cancel_subscription", undefined]
    ] as const
    for (const [method, path, tool, body] of changes) {
      const answer = await berth.request(method, path, { token: key, body })
      const called = await callTool(holder, tool, body)
      expect([answer.status, called.isError, textOf(called)], tool).toEqual([401, true, answer.body])
    }
    await holder.close()
    await expectStatus("enterprise active, canceled")
  })
})
