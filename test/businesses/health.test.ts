import { beforeEach, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses } from "../support/business.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { type Served, served } from "../support/served.ts"
import { holdLock, runSql } from "../support/sql.ts"

const berth = useBerth({ variables: { HEALTH_PROBE_SECONDS: "3" } })
let owner: Account
beforeEach(async () => {
  owner = await berth.signUp("enterprise")
})

/** What probes would have stored of the server. The job sees it at its next turn. */
const probed = ({ server: { id } }: Pick<Served, "server">, hours: ReadonlyArray<readonly [number, number]>) => {
  const [good, probes] = [0, 1].map((at) => hours.reduce((sum, hour) => sum + (hour[at] ?? 0), 0)) as [number, number]
  return runSql(
    berth.databaseUrl,
    `INSERT INTO server_health (server_id, path, hours, score, probed_at, failed_at, failure)
     VALUES ($1, '/healthz', $2, $3, now(), now(), 'answered with status 500, not 200')
     ON CONFLICT (server_id) DO UPDATE SET hours = excluded.hours, score = excluded.score`,
    [id, JSON.stringify(hours), Math.round(100 * good / probes)]
  )
}

const skillOf = async ({ business: { listingId } }: Served) => {
  const { headers, text } = await berth.request("GET", `/api/v1/hub/listings/${listingId}/skill.md`)
  return { header: headers.get("x-hub-health-score"), field: /^hub:health_score: (\d+)$/m.exec(text)?.[1] }
}
const scoreOf = async (one: Served) => Number((await skillOf(one)).header)
/** At the next round of probes. */
const soon = (one: Served) => {
  berth.hurry(3_000)
  return scoreOf(one)
}
const follows = (one: Served, score: number) =>
  expect.poll(() => soon(one), { timeout: 15_000, interval: 100 }).toBe(score)
const relevanceOf = async ({ business: { listingId } }: Served) =>
  dataOf(await berth.request<{ data: { relevanceScore: number } }>("GET", `/v1/directory/${listingId}`)).relevanceScore
/** How many statements of this kind wait for a lock. */
const waitingFor = async (text: string) => {
  const query = `SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`
  return (await runSql(berth.databaseUrl, query, [`%${text}%`]))[0]?.["n"]
}
const link = ({ business: { id } }: Served, serverId: string | null) => owner.patch(`${businesses}/${id}`, { serverId })

describe("the health score of a listing", () => {
  it("follows its server's probes: in its SKILL.md, its headers, its relevance and its place in the directory", async () => {
    const [ill, well] = [await served(owner, "ill"), await served(owner, "well")]
    expect(await skillOf(ill)).toEqual({ header: "0", field: "0" })
    const before = await relevanceOf(ill)
    await probed(ill, [[7, 10]])
    await probed(well, [[10, 10]])
    await follows(ill, 70)
    await follows(well, 100)
    expect(await skillOf(ill)).toEqual({ header: "70", field: "70" })
    expect(await relevanceOf(ill)).toBe(before + 70)
    const found = await berth.request<{ data: ReadonlyArray<{ name: string }> }>("GET", "/v1/directory?search=Named")
    expect(found.body.data.map(({ name }) => name)).toEqual(["Named well", "Named ill"])
  })

  it("is shown to its owner with how it came about, by both doors", async () => {
    const one = await served(owner, "shown")
    const path = `${businesses}/${one.business.id}`
    const read = async () => dataOf(await owner.get<{ data: Business & { health: unknown } }>(path))
    expect((await read()).health).toBeNull()
    await probed(one, [[59, 60], [10, 12]])
    const health = {
      score: 96,
      probes: 72,
      failures: 3,
      lastProbeAt: expect.any(String) as string,
      lastFailureAt: expect.any(String) as string,
      lastFailure: "answered with status 500, not 200"
    }
    expect((await read()).health).toEqual(health)
    await follows(one, 96)
    const listing = await owner.patch<{ data: { healthScore: number } }>(`${path}/listing`, { tags: ["x"] })
    expect(listing.body.data.healthScore).toBe(96)
    const client = await connectMcp(berth.url, { token: owner.token, query: "?toolsets=all" })
    const { structuredContent } = await callTool(client, "get_business", { businessId: one.business.id })
    await client.close()
    expect(structuredContent).toMatchObject({ health })
  })

  it("is that of the server that is linked now, at once, and 0 without one", async () => {
    const [one, other] = [await served(owner, "one"), await served(owner, "other")]
    await probed(one, [[9, 10]])
    await follows(one, 90)
    const before = await relevanceOf(one)
    await link(one, null)
    expect([await scoreOf(one), await relevanceOf(one)]).toEqual([0, before - 90])

    const next = await owner.server(one.business.projectId, { slug: "next" })
    await probed({ server: next }, [[4, 10]])
    expect((await link(one, next.id)).status).toBe(200)
    expect([await scoreOf(one), await relevanceOf(one)]).toEqual([40, before - 50])
    await link(one, one.server.id)
    expect(await scoreOf(one)).toBe(90)
    expect(await scoreOf(other)).toBe(0)
  })

  it("is 0 as soon as the server is deleted, and nothing is left of the server's", async () => {
    const one = await served(owner, "deleted")
    await probed(one, [[9, 10]])
    await follows(one, 90)
    const before = await relevanceOf(one)
    expect((await owner.delete(`/v1/servers/${one.server.id}`)).status).toBe(204)
    expect([await scoreOf(one), await relevanceOf(one)]).toEqual([0, before - 90])
    expect(await runSql(berth.databaseUrl, "SELECT FROM server_health WHERE server_id = $1", [one.server.id])).toEqual(
      []
    )
  })

  it("of a server that is deleted and unlinked, linked or edited at the same time ends as it should", async () => {
    const all = await Promise.all(Array.from({ length: 6 }, (_, at) => served(owner, `race-${at}`)))
    await Promise.all(all.map((one) => probed(one, [[8, 10]])))
    await Promise.all(all.map((one) => follows(one, 80)))
    const answers = await Promise.all(all.flatMap((one, at) => [
      owner.delete(`/v1/servers/${one.server.id}`),
      at % 2 === 0 ? link(one, one.server.id) : owner.patch(`${businesses}/${one.business.id}`, { description: "New" }),
      link(one, null)
    ]))
    for (const { status } of answers) expect([200, 204, 422]).toContain(status)
    for (const one of all) expect(await scoreOf(one)).toBe(0)
  })

  it("of a server that is linked while it is deleted is 0", async () => {
    const [one, other] = [await served(owner, "linked-late"), await served(owner, "unlinked")]
    await link(one, null)
    await probed(one, [[9, 10]])
    // The link is on its way when the deletion begins: it has business and server, and waits for the listing.
    const release = await holdLock(berth.databaseUrl, "SELECT FROM listings WHERE id = $1 FOR UPDATE", [
      one.business.listingId
    ])
    const linking = link(one, one.server.id)
    await expect.poll(() => waitingFor("UPDATE listings"), { timeout: 10_000 }).toBe(1)
    const deleting = owner.delete(`/v1/servers/${one.server.id}`)
    await expect.poll(() => waitingFor("FROM servers"), { timeout: 10_000 }).toBe(1)
    await release()
    expect([(await linking).status, (await deleting).status]).toEqual([200, 204])
    expect([await scoreOf(one), await scoreOf(other)]).toEqual([0, 0])
  })

  it("a server that is deleted while it is linked is told as one that does not exist", async () => {
    const one = await served(owner, "deleted-first")
    await link(one, null)
    const release = await holdLock(berth.databaseUrl, "SELECT FROM servers WHERE id = $1 FOR UPDATE", [one.server.id])
    const deleting = owner.delete(`/v1/servers/${one.server.id}`)
    await expect.poll(() => waitingFor("FROM servers"), { timeout: 10_000 }).toBe(1)
    const linking = link(one, one.server.id)
    await expect.poll(() => waitingFor("UPDATE businesses"), { timeout: 10_000 }).toBe(1)
    await release()
    expect((await deleting).status).toBe(204)
    expect(await linking).toMatchObject({
      status: 422,
      body: { error: { message: expect.stringContaining("there is no such server") as string } }
    })
  })

  it("waits for a business that is being changed, and holds no other back", async () => {
    const [busy, free] = [await served(owner, "busy"), await served(owner, "free")]
    const release = await holdLock(berth.databaseUrl, "SELECT FROM businesses WHERE id = $1 FOR UPDATE", [
      busy.business.id
    ])
    await probed(busy, [[10, 10]])
    await probed(free, [[10, 10]])
    try {
      await expect.poll(() => soon(free), { timeout: 25_000 }).toBe(100)
      expect(await scoreOf(busy)).toBe(0)
    } finally {
      await release()
    }
    await follows(busy, 100)
  }, 60_000)
})
