import { FastCheck as fc } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Holder } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { compose, type Composite, type CompositePage, composites, hubKey, rate, rated } from "../support/composites.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { holdLock, runSql } from "../support/sql.ts"
import { row } from "./row.ts"
import { failure } from "./shapes.ts"

const berth = useBerth()
let owner: Account
let key: Holder
let listingIds: ReadonlyArray<string> = []

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  key = await hubKey(berth, owner)
  for (const [tier, health] of [[3, 90], [3, 80], [2, 95], [1, 70], [0, 60], [2, 50]] as const) {
    listingIds = [...listingIds, (await rated(berth, owner, { tier, health })).listingId]
  }
})

const page = async (query: string) => {
  const answer = await key.get<CompositePage>(`${composites}/browse?${query}`)
  expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"])
  return answer.body
}

/** All of them, page by page; `between` happens before each page but the first. */
const walk = async (limit: number, between: () => Promise<unknown> = () => Promise.resolve()) => {
  const found: Array<Composite> = []
  let cursor: string | null = null
  do {
    if (cursor !== null) await between()
    const { data, meta }: CompositePage = await page(`limit=${limit}${cursor === null ? "" : `&cursor=${cursor}`}`)
    expect([data.length <= limit, meta.hasMore]).toEqual([true, meta.cursor !== null])
    found.push(...data)
    cursor = meta.cursor
  } while (cursor !== null)
  return found
}

const rankOf = ({ avgHealthScore, compositeTrust, id, memberCount }: Composite) =>
  [9 - compositeTrust, 1e6 - memberCount, 1e6 - Math.round(avgHealthScore * 100), id].map((part) =>
    String(part).padStart(9, "0")
  ).join(" ")

const publish = (query_definition: object, name = "Public") =>
  compose(owner, { name, query_definition, visibility: "public" })
const clear = () => runSql(berth.databaseUrl, "DELETE FROM composites")

describe("browse", () => {
  row(
    "composites: who has signed in reads them without a hub key, so many a day by the account's best one: 429 quota_exceeded",
    async () => {
      const account = await berth.signUp()
      const client = await connectMcp(berth.url, { token: account.token })
      const reads = (used: number) =>
        runSql(berth.databaseUrl, "UPDATE hub_account_days SET day_count = $2 WHERE user_id = $1", [account.id, used])
      const counted = async () => {
        const sql = "SELECT day_count FROM hub_account_days WHERE user_id = $1"
        return (await runSql(berth.databaseUrl, sql, [account.id]))[0]?.["day_count"]
      }
      expect((await account.get(composites)).status).toBe(200)
      expect((await account.get(`${composites}/browse`)).status).toBe(200)
      for (const name of ["hub_composites", "hub_browse_composites"]) {
        expect((await callTool(client, name)).isError, name).toBe(undefined)
      }
      expect(await counted()).toBe(4)
      await reads(98)
      const last = await Promise.all(Array.from({ length: 5 }, () => account.get(`${composites}/browse`)))
      expect(last.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429])
      const spent = await account.get(composites)
      const midnight = 86_400 - Math.floor(berth.now() / 1_000) % 86_400
      expect([spent.status, spent.body]).toEqual([
        429,
        failure("quota_exceeded", { limit: 100, tier: "explorer", requiredTier: "builder" })
      ])
      expect(Math.abs(Number(spent.headers.get("retry-after")) - midnight)).toBeLessThan(60)
      expect(textOf(await callTool(client, "hub_composites"))).toEqual(spent.body)
      // Its own composites, and those of others by id, are no part of the count.
      expect((await account.get(`${composites}/mine`)).status).toBe(200)
      // Its hub key has its own count, and raises the account's.
      const explorer = await hubKey(berth, account, "explorer")
      expect((await explorer.get(composites)).status).toBe(200)
      expect((await account.get(composites)).status).toBe(429)
      await hubKey(berth, account, "builder")
      expect((await account.get(composites)).status).toBe(200)
      await reads(10_000)
      expect((await account.get(composites)).body).toEqual(
        failure("quota_exceeded", { limit: 10_000, tier: "builder", requiredTier: "partner" })
      )
      berth.advance(86_400_000)
      expect((await account.get(composites)).status).toBe(200)
      expect(await counted()).toBe(1)
      await client.close()
    }
  )

  row("GET /v1/hub/composites/browse → public composites only", async () => {
    await clear()
    const shown = await publish({ city: "Denver" })
    await compose(owner, { name: "Private" })
    const agents = await Promise.all([compose(key), compose(key)])
    expect(await page("")).toEqual({ data: [shown], meta: { cursor: null, hasMore: false, total: 1 } })
    await key.request("POST", `${composites}/${agents[0].id}/promote`)
    expect((await page("")).data.map(({ id }) => id).sort()).toEqual([shown.id, agents[0].id].sort())
    await owner.patch(`${composites}/${shown.id}`, { visibility: "private" })
    expect((await page("")).data.map(({ id }) => id)).toEqual([agents[0].id])
  })

  row("browse ordering: compositeTrust, then memberCount, then avgHealthScore, each descending, then id", async () => {
    await clear()
    const [a, b, c, d, e, f] = listingIds
    const sets = [[a], [b], [a, b], [c], [c, f], [a, c], [d], [e], [a, b, c], [a], [c, d], [b]]
    for (const listing_ids of sets) await publish({ listing_ids })
    // One that nobody is in comes last.
    await publish({ city: "Nowhere" })
    const whole = await walk(100)
    expect(whole.map(rankOf)).toEqual(whole.map(rankOf).sort())
    expect(
      whole.slice(0, 4).map(({ avgHealthScore, compositeTrust, memberCount }) => [
        compositeTrust,
        memberCount,
        avgHealthScore
      ])
    ).toEqual([[3, 2, 85], [3, 1, 90], [3, 1, 90], [3, 1, 80]])
    expect(whole.at(-1)).toMatchObject({ compositeTrust: 0, memberCount: 0, avgHealthScore: 0 })
    for (const limit of [1, 2, 5, 13]) expect(await walk(limit), String(limit)).toEqual(whole)
  })

  it("holds while composites come, go and change between its pages: none is left out, none shown twice", async () => {
    await clear()
    const kept: Array<string> = []
    for (let at = 0; at < 12; at++) kept.push((await publish({ listing_ids: [listingIds[at % 4]] })).id)
    let at = 0
    const found = await walk(3, async () => {
      const doomed = await publish({ listing_ids: [listingIds[at++ % 6]] }, "Passing")
      await publish({ city: "Denver" }, "New")
      await owner.delete(`${composites}/${doomed.id}`)
      await owner.patch(`${composites}/${kept[at]}`, { name: `Renamed ${at}` })
    })
    const ids = found.filter(({ name }) => name !== "New").map(({ id }) => id)
    expect(ids.length).toBe(new Set(ids).size)
    expect([...ids].sort()).toEqual([...kept].sort())
  })

  it("shows values of the moment, in their order", async () => {
    await clear()
    const up = await publish({ listing_ids: [listingIds[4]] })
    const down = await publish({ listing_ids: [listingIds[0]] })
    await rate(berth, listingIds[4] ?? "", { tier: 3, health: 99 })
    await rate(berth, listingIds[0] ?? "", { tier: 1 })
    const { data } = await page("")
    expect(data.map(({ compositeTrust, id }) => [id, compositeTrust])).toEqual([[up.id, 3], [down.id, 1]])
    await rate(berth, listingIds[4] ?? "", { tier: 0, health: 60 })
    await rate(berth, listingIds[0] ?? "", { tier: 3 })
  })

  it("moves composites to their page by a job", async () => {
    await clear()
    const up = await publish({ listing_ids: [listingIds[4]] })
    const down = await publish({ listing_ids: [listingIds[0]] })
    await rate(berth, listingIds[4] ?? "", { tier: 3, health: 99 })
    await rate(berth, listingIds[0] ?? "", { tier: 1 })
    // The job looks at them every 30 seconds.
    const pages = async () => {
      berth.hurry(30_000)
      return (await walk(1)).map(({ id }) => id)
    }
    await expect.poll(pages, { timeout: 45_000, interval: 500 }).toEqual([up.id, down.id])
    await rate(berth, listingIds[4] ?? "", { tier: 0, health: 60 })
    await rate(berth, listingIds[0] ?? "", { tier: 3 })
  }, 60_000)

  it("waits a second for a query that takes long, and shows its last values", async () => {
    await clear()
    const shown = await publish({ city: "Denver" })
    const release = await holdLock(berth.databaseUrl, "LOCK TABLE listings, composite_entries", [])
    const before = performance.now()
    const { data } = await page("")
    const took = performance.now() - before
    await release()
    expect(data).toEqual([shown])
    expect([took > 900, took < 5_000], String(took)).toEqual([true, true])
  })

  it("never has an agent's composite that was not promoted, nor a private one, whatever was done before", async () => {
    type Deed = readonly ["user" | "agent", ...ReadonlyArray<"public" | "private" | "promote" | "rename" | "delete">]
    const deed = fc.array(fc.constantFrom("public", "private", "promote", "rename", "delete" as const), {
      maxLength: 4
    })
    const histories = fc.array(
      fc.tuple(fc.constantFrom("user", "agent"), deed).map(([by, deeds]) => [by, ...deeds] as Deed),
      { minLength: 1, maxLength: 5 }
    )
    await fc.assert(
      fc.asyncProperty(histories, async (all) => {
        await clear()
        const expected = new Set<string>()
        for (const [by, ...deeds] of all) {
          const { id } = await compose(by === "user" ? owner : key)
          for (const what of deeds) {
            const { status } = what === "promote"
              ? await key.request("POST", `${composites}/${id}/promote`)
              : what === "delete"
              ? await key.delete(`${composites}/${id}`)
              : await owner.patch(`${composites}/${id}`, what === "rename" ? { name: "New" } : { visibility: what })
            if (status < 300 && (what === "public" || what === "promote")) expected.add(id)
            if (status < 300 && (what === "private" || what === "delete")) expected.delete(id)
            if (by === "agent" && what === "public" && !expected.has(id)) expect([404, 422]).toContain(status)
          }
        }
        const { data, meta } = await page("limit=100")
        expect(new Set(data.map(({ id }) => id))).toEqual(expected)
        expect(meta.total).toBe(expected.size)
        for (const { created_by, expiresAt, promotedAt, visibility } of data) {
          expect([visibility, expiresAt]).toEqual(["public", null])
          if (created_by === "agent") expect(promotedAt).not.toBeNull()
        }
      }),
      { numRuns: 15 }
    )
  }, 120_000)

  it("is the same over MCP, as are the other operations", async () => {
    await clear()
    const client = await connectMcp(berth.url, { token: key.token })
    const made = (await callTool(client, "hub_create_composite", {
      name: "Denver",
      query_definition: { city: "Denver" }
    })).structuredContent as unknown as Composite
    const args = { compositeId: made.id }
    const promoted = await callTool(client, "hub_promote_composite", args)
    expect(promoted.structuredContent).toMatchObject({ id: made.id, visibility: "public", expiresAt: null })
    expect(textOf(await callTool(client, "hub_promote_composite", args))).toMatchObject({ error: { code: "conflict" } })
    for (const limit of [1, "1"]) {
      expect((await callTool(client, "hub_browse_composites", { limit })).structuredContent).toEqual(
        await page("limit=1")
      )
    }
    for (const bad of [{ limit: 0 }, { limit: "x" }, { cursor: "x" }]) {
      const query = Object.entries(bad).map(([name, value]) => `${name}=${value}`).join("&")
      expect(textOf(await callTool(client, "hub_browse_composites", bad))).toEqual(
        (await key.get(`${composites}/browse?${query}`)).body
      )
    }
    expect((await callTool(client, "hub_list_composites")).structuredContent).toEqual(
      (await key.get(`${composites}/mine`)).body
    )
    const { body } = await key.get<{ data: object }>(`${composites}/${made.id}`)
    expect((await callTool(client, "hub_get_composite", args)).structuredContent).toEqual(body.data)
    const changed = await callTool(client, "hub_update_composite", { ...args, description: "Soups." })
    expect(changed.structuredContent).toMatchObject({ description: "Soups." })
    expect(textOf(await callTool(client, "hub_update_composite", args))).toEqual(
      (await key.patch(`${composites}/${made.id}`, {})).body
    )
    const visible = { name: "x", query_definition: { city: "x" }, visibility: "public" }
    expect(textOf(await callTool(client, "hub_create_composite", visible))).toEqual(
      (await key.post(composites, visible)).body
    )
    expect((await callTool(client, "hub_delete_composite", args)).isError).not.toBe(true)
    expect(textOf(await callTool(client, "hub_get_composite", args))).toMatchObject({ error: { code: "not_found" } })
    await client.close()
  })
})
