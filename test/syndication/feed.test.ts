import { setTimeout } from "node:timers/promises"
import pg from "pg"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses } from "../support/business.ts"
import { newItem } from "../support/catalog.ts"
import { pastOthers, setAgentAccess, shownBusiness } from "../support/directory-door.ts"
import { served } from "../support/served.ts"
import { holdLock, runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
let projectId = ""
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  projectId = (await owner.project()).id
})

interface Entry {
  readonly status: "listed" | "removed"
  readonly id: string
  readonly slug: string
  readonly name?: string
  readonly [key: string]: unknown
}
interface Page {
  readonly data: ReadonlyArray<Entry>
  readonly meta: { readonly changes_token: string; readonly hasMore: boolean }
}

const read = async (token?: string, limit = 100) => {
  const query = new URLSearchParams({ limit: String(limit), ...(token === undefined ? {} : { changes_token: token }) })
  return berth.request<Page>("GET", `/v1/feeds/businesses?${query.toString()}`)
}

/** Reads on until there is no more. */
const follow = async (token?: string, limit = 100, isLate = false) => {
  if (!isLate) await pastOthers(berth.databaseUrl)
  const entries: Array<Entry> = []
  let next = token
  for (;;) {
    const { body } = await read(next, limit)
    entries.push(...body.data)
    next = body.meta.changes_token
    if (!body.meta.hasMore) return { entries, token: next }
  }
}

const shown = (name: string) => shownBusiness(owner, { projectId, name })
const hide = ({ listingId }: Business) => owner.patch(`/v1/directory/${listingId}`, { visible: false })
const named = ({ entries }: { readonly entries: ReadonlyArray<Entry> }) =>
  entries.map(({ name, slug, status }) => status === "listed" ? name : `- ${slug}`)

describe("the feed of businesses", () => {
  it("has everything once, then what changed: listings as they are now, and removals", async () => {
    const one = await shownBusiness(owner, { projectId, name: "Feed One", templateType: "restaurant" }, {
      contact: { phone: "+15550100", address: { city: "Denver", state: "CO", zip: "80202" } },
      hours: { monday: "closed" }
    })
    const two = await shown("Feed Two")
    const { token } = await follow()
    const all = (await follow(undefined, 1)).entries
    expect(all.map(({ id }) => id)).toEqual([...new Set(all.map(({ id }) => id))])
    expect(all.find(({ id }) => id === one.listingId)).toEqual({
      status: "listed",
      id: one.listingId,
      businessId: one.id,
      slug: one.slug,
      name: "Feed One",
      description: "",
      categories: ["Restaurant"],
      tags: [],
      templateType: "restaurant",
      industry: "restaurant",
      address: { line1: "", city: "Denver", state: "CO", zip: "80202", country: "" },
      coordinates: { lat: expect.closeTo(39.75, 0), lng: expect.closeTo(-105, 0), isApproximate: true },
      timeZone: "America/Denver",
      hours: { monday: "closed" },
      phone: "+15550100",
      website: "",
      featuredImageUrl: "",
      verificationLevel: "unverified",
      mcpServerUrl: "",
      pageUrl: `${berth.url}/listings/${one.slug}`,
      skillUrl: `${berth.url}/api/v1/hub/listings/${one.listingId}/skill.md`,
      publishedAt: expect.any(String),
      updatedAt: expect.any(String)
    })
    expect((await follow(token)).entries).toEqual([])
    await owner.patch(`${businesses}/${one.id}`, { name: "Feed One Renamed" })
    await newItem(owner, two.id)
    const changed = await follow(token)
    expect(named(changed)).toEqual(["Feed One Renamed", "Feed Two"])
    await owner.patch(`${businesses}/${one.id}`, { name: "Feed One Again" })
    await hide(two)
    const again = await follow(changed.token)
    expect(named(again)).toEqual(["Feed One Again", `- ${two.slug}`])
    // The older token has both in their last form.
    expect(named(await follow(token))).toEqual(["Feed One Again", `- ${two.slug}`])
    await owner.patch(`/v1/directory/${two.listingId}`, { visible: true })
    await owner.delete(`${businesses}/${one.id}`)
    expect(named(await follow(again.token))).toEqual(["Feed Two", `- ${one.slug}`])
    // Who begins now need not know who went before.
    expect(named(await follow())).not.toContain(`- ${one.slug}`)
  })

  it("drops a listing that its owner withdrew from agents, and follows the server that is linked", async () => {
    const { business, server } = await served(owner, "feed-served")
    const { entries, token } = await follow()
    expect(entries.find(({ id }) => id === business.listingId)).toMatchObject({
      mcpServerUrl: expect.stringMatching(/mcp/)
    })
    await owner.delete(`/v1/servers/${server.id}`)
    const unlinked = await follow(token)
    expect(unlinked.entries).toMatchObject([{ id: business.listingId, mcpServerUrl: "" }])
    await setAgentAccess(owner, business, false)
    const gone = await follow(unlinked.token)
    expect(named(gone)).toEqual([`- ${business.slug}`])
    // What happens to it now is nobody's business.
    await owner.patch(`${businesses}/${business.id}`, { name: "Withdrawn" })
    expect((await follow(gone.token)).entries).toEqual([])
    await setAgentAccess(owner, business, true)
    expect(named(await follow(gone.token))).toEqual(["Withdrawn"])
  })

  it("says nothing of a hidden listing, and tells of one that goes while it is read", async () => {
    const pending = await shownBusiness(owner, { projectId, name: "Feed Pending" })
    await hide(pending)
    expect((await follow()).entries.map(({ id }) => id)).not.toContain(pending.listingId)
    const [early] = [await shown("Feed Early"), await shown("Feed Late")]
    let page = await read(undefined, 1)
    while (page.body.data[0]?.id !== early.listingId) page = await read(page.body.meta.changes_token, 1)
    await hide(early)
    expect(named(await follow(page.body.meta.changes_token))).toEqual(["Feed Late", `- ${early.slug}`])
  })

  it("misses nothing of a transaction that commits after younger ones", async () => {
    const [slow, quick] = [await shown("Feed Slow"), await shown("Feed Quick")]
    const { token } = await follow()
    const commit = await holdLock(
      berth.databaseUrl,
      "UPDATE listings SET name = 'Sluggish', updated_at = now() WHERE id = $1",
      [
        slow.listingId
      ]
    )
    await owner.patch(`${businesses}/${quick.id}`, { name: "Rapid" })
    const between = await follow(token, 100, true)
    // It waits for the older one, so that no token is ever ahead of a change.
    expect(named(between)).toEqual([])
    await commit()
    expect(named(await follow(between.token))).toEqual(["Sluggish", "Rapid"])
    expect(named(await follow(token))).toEqual(["Sluggish", "Rapid"])
  })

  it("leaves a reader with the directory as it is, whatever others write meanwhile", async () => {
    const mine = await Promise.all(Array.from({ length: 12 }, (_, n) => shown(`Storm ${n}`)))
    const ids = mine.map(({ listingId }) => listingId)
    const writers = Array.from({ length: 6 }, async (_, seed) => {
      const client = new pg.Client({ connectionString: berth.databaseUrl })
      await client.connect()
      for (let n = 0; n < 25; n++) {
        await client.query("BEGIN")
        const id = ids[(seed * 7 + n * 5) % ids.length]
        const status = (seed + n) % 3 === 0 ? "pending" : "active"
        await client.query("UPDATE listings SET name = $2, status = $3, updated_at = clock_timestamp() WHERE id = $1", [
          id,
          `Storm ${seed} ${n}`,
          status
        ])
        await setTimeout((seed * 13 + n * 29) % 40)
        await client.query(n % 7 === 3 ? "ROLLBACK" : "COMMIT")
      }
      await client.end()
    })
    const copy = new Map<string, string | undefined>()
    let token: string | undefined
    let isOver = false
    const done = Promise.all(writers).then(() => (isOver = true))
    const step = async () => {
      const { body } = await read(token, 3)
      for (const { id, name, status } of body.data) {
        if (status === "removed") copy.delete(id)
        else copy.set(id, name)
      }
      token = body.meta.changes_token
      return body.meta.hasMore
    }
    while (!isOver) await step()
    await done
    await pastOthers(berth.databaseUrl)
    while (await step()) { /* on to the end */ }
    const rows = await runSql(
      berth.databaseUrl,
      "SELECT id, name FROM listings WHERE status = 'active' AND agent_access"
    )
    expect(Object.fromEntries(copy)).toEqual(Object.fromEntries(rows.map(({ id, name }) => [id, name])))
  }, 60_000)

  it("refuses what is no token, and a page that is too large", async () => {
    const valid = (await read()).body.meta.changes_token
    for (const token of ["x", "", `${valid}x`, "\u0000", "é".repeat(30)]) {
      const answer = await read(token)
      expect([answer.status, answer.body], token).toMatchObject([400, { error: { code: "BAD_REQUEST" } }])
    }
    for (const limit of [0, 501, 1.5]) expect((await read(undefined, limit)).status).toBe(400)
    const { headers } = await berth.request("GET", "/v1/feeds/businesses", { headers: { origin: "https://a.example" } })
    expect([headers.get("access-control-allow-origin"), headers.get("x-ratelimit-limit")]).toEqual(["*", "300"])
  })
})
