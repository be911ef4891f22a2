import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"
import { failure, timestamp } from "./shapes.ts"

const berth = useBerth()
let owner: Account
let listingId = ""
let projectId = ""
let subdomain = ""
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  projectId = (await owner.project()).id
  const server = await owner.server(projectId)
  subdomain = server.slug
  const business = await newBusiness(owner, { projectId })
  listingId = business.listingId
  await owner.patch(`/api/v1/ready/businesses/${business.id}`, {
    serverId: server.id,
    contact: { website: "https://ladle.example" }
  })
  await owner.patch(`/v1/directory/${listingId}`, { visible: true })
})

const transactions = (id = listingId) => `/api/v1/hub/listings/${id}/transactions`
const counted = async () => {
  const rows = await runSql(berth.databaseUrl, "SELECT kind, n::int FROM listing_events WHERE listing_id = $1", [
    listingId
  ])
  return Object.fromEntries(rows.map(({ kind, n }) => [kind, n])) as Record<string, number>
}
/** Sooner or later; and no more than that. */
const comesTo = (expected: Readonly<Record<string, number>>) =>
  expect.poll(counted, { timeout: 10_000, interval: 100 }).toMatchObject(expected)
const interactions = async () => {
  const answer = await berth.request<{ readonly business: { readonly interactionCount: number } }>(
    "GET",
    `/.well-known/mcp-server-metadata?subdomain=${subdomain}`
  )
  return answer.body.business.interactionCount
}

describe("events of a listing", () => {
  row(
    "each event counts, of its kind, towards the listing's analytics and the business's interactionCount",
    async () => {
      const before = await interactions()
      const skill = `/api/v1/hub/listings/${listingId}/skill.md`
      const referral = `/api/v1/hub/listings/${listingId}/referral`
      const send = (method: string, path: string) => berth.request(method, path)
      // Nobody reads what a HEAD asks for, and a list that nobody searched is no impression.
      for (const path of [`/v1/directory/${listingId}`, "/v1/directory?search=copper", skill, referral]) {
        expect((await send("HEAD", path)).status, path).toBeLessThan(400)
      }
      await send("GET", "/v1/directory")
      for (let i = 0; i < 2; i++) await send("GET", `/v1/directory/${listingId}`)
      for (let i = 0; i < 3; i++) await send("GET", "/v1/directory?search=copper")
      for (let i = 0; i < 4; i++) await send("GET", skill)
      for (let i = 0; i < 5; i++) expect((await send("GET", referral)).status).toBe(302)
      for (let i = 0; i < 6; i++) expect((await owner.request("POST", transactions())).status).toBe(201)
      await comesTo({ view: 2, search_impression: 3, click: 4, referral_click: 5, transaction: 6 })
      expect(await interactions()).toBe(before + 20)
    }
  )

  row("POST /api/v1/hub/listings/:id/transactions → 201 { data: { listing_id, recorded_at } }", async () => {
    const before = (await counted())["transaction"] ?? 0
    const holder = await owner.holder(projectId, ["servers:write"])
    for (const sender of [owner, holder]) {
      const answer = await sender.request("POST", transactions())
      expect([answer.status, answer.body]).toEqual([201, { data: { listing_id: listingId, recorded_at: timestamp } }])
    }
    await comesTo({ transaction: before + 2 })
    const bad = await owner.request("POST", transactions("x"))
    expect([bad.status, bad.body]).toEqual([400, failure("invalid_input")])
    const missing = await owner.request("POST", transactions("01J00000000000000000000000"))
    expect([missing.status, missing.body]).toEqual([404, failure("not_found")])
    const beside = await owner.holder((await owner.project()).id, ["servers:write"])
    for (const stranger of [await berth.signUp(), beside]) {
      const answer = await stranger.request("POST", transactions())
      expect([answer.status, answer.body]).toEqual([403, failure("forbidden")])
    }
    const reader = await owner.holder(projectId, ["servers:read"])
    expect((await reader.request("POST", transactions())).status).toBe(403)
    const { data: { key } } = (await owner.request<{ readonly data: { readonly key: string } }>(
      "POST",
      "/api/v1/hub/api-keys",
      { body: {} }
    )).body
    for (const token of [undefined, key]) {
      expect((await berth.request("POST", transactions(), { token })).status).toBe(401)
    }
    expect((await owner.request("POST", transactions(), { body: { amount: 7 } })).status).toBe(422)
  })

  it("a transaction whose answer could not be kept counts once when it is told again", async () => {
    const before = (await counted())["transaction"] ?? 0
    await runSql(
      berth.databaseUrl,
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now' USING ERRCODE = '57014'; END $$`
    )
    await runSql(
      berth.databaseUrl,
      `CREATE TRIGGER refuse BEFORE UPDATE ON idempotency_keys FOR EACH ROW
       WHEN (NEW.sealed_response IS NOT NULL) EXECUTE FUNCTION refuse()`
    )
    const tell = () => owner.request("POST", transactions(), { headers: { "idempotency-key": "order-lost" } })
    expect((await tell()).status).toBe(503)
    await runSql(berth.databaseUrl, "DROP FUNCTION refuse CASCADE")
    expect((await tell()).status).toBe(201)
    expect((await tell()).status).toBe(201)
    expect((await counted())["transaction"], "without a wait: it is counted with its answer").toBe(before + 1)
  })

  it("a transaction that is told again with its Idempotency-Key counts once, over either door, and two at once", async () => {
    const before = (await counted())["transaction"] ?? 0
    const tell = (key: string, from: Pick<Account, "request"> = owner) =>
      from.request<{ readonly data: { readonly recorded_at: string } }>("POST", transactions(), {
        headers: { "idempotency-key": key }
      })
    const both = await Promise.all([tell("order-1"), tell("order-1")])
    // The second of two at once is asked to come again.
    expect(both.map(({ status }) => status).every((status) => [201, 409].includes(status))).toBe(true)
    const [again, byKey] = [await tell("order-1"), await tell("order-1", await owner.holder(projectId))]
    expect([again.status, byKey.status]).toEqual([201, 201])
    const client = await connectMcp(berth.url, { token: owner.token })
    const told = await callTool(client, "record_transaction", { listingId, idempotencyKey: "order-1" })
    expect(told.structuredContent).toEqual(dataOf(again))
    expect(byKey.body).toEqual(again.body)
    await callTool(client, "record_transaction", { listingId, idempotencyKey: "order-2" })
    const refused = await tell("order 3")
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("visible ASCII")])
    expect(textOf(await callTool(client, "record_transaction", { listingId, idempotencyKey: "" })))
      .toEqual({ error: expect.objectContaining({ code: "validation_error" }) })
    await client.close()
    await comesTo({ transaction: before + 2 })
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect((await counted())["transaction"]).toBe(before + 2)
  })
})
