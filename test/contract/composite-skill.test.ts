import { beforeAll, describe, expect, it } from "vitest"
import { parse } from "yaml"
import { type Account, type Holder } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { compose, type Composite, composites, hubKey, rated } from "../support/composites.ts"
import { sendDoc, skillMd } from "../support/documents.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { row } from "./row.ts"
import { failure } from "./shapes.ts"

const berth = useBerth()
let owner: Account
let key: Holder
let stranger: Holder
let made: Composite
let listingIds: ReadonlyArray<string> = []

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  key = await hubKey(berth, owner)
  stranger = await hubKey(berth, await berth.signUp(), "explorer")
  const best = await rated(berth, owner, { name: "Copper Ladle", tier: 3, health: 95 })
  const next = await rated(berth, owner, { name: "Tin Spoon", tier: 2, health: 70 })
  listingIds = [best.listingId, next.listingId]
  await sendDoc(owner, best.listingId, skillMd)
  made = await compose(owner, { description: "The city's soups.", query_definition: { city: "Denver" } })
})

const path = (id = made.id) => `${composites}/${id}/skill.md`
const frontmatterOf = (text: string) =>
  parse(/^---\n([\s\S]*?)\n---\n/.exec(text)?.[1] ?? "") as Readonly<Record<string, unknown>>

describe("a composite's SKILL.md", () => {
  row("composite SKILL.md: hub: keys; public ones by any key, private ones by the owning account only", async () => {
    for (const holder of [owner, key, await hubKey(berth, owner, "explorer")]) {
      const { headers, status, text } = await holder.get(path())
      expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
        200,
        "text/markdown; charset=utf-8",
        "private, no-cache"
      ])
      expect(frontmatterOf(text)).toMatchObject({
        name: made.slug,
        "hub:composite_id": made.id,
        "hub:composite_trust": 2,
        "hub:avg_health_score": 82.5,
        "hub:member_count": 2
      })
    }
    const refused = await stranger.get(path())
    expect([refused.status, refused.body]).toEqual([404, failure("not_found")])
    expect((await berth.request("GET", path())).status).toBe(401)
    await owner.patch(`${composites}/${made.id}`, { visibility: "public" })
    expect((await stranger.get(path())).status).toBe(200)
    expect((await berth.request("GET", path())).status).toBe(401)
  })

  it("ranks its members, each with URL, tier, health and tools, and why it is there", async () => {
    const { text } = await key.get(path())
    expect(text).toContain("> The city's soups.\n")
    expect(text).toContain(`<${berth.url}/mcp/composites/${made.id}>`)
    const [, first = "", second = ""] = text.split(/^## \d\. /m)
    expect(first).toContain("Copper Ladle\n")
    expect(first).toContain("- Listing tier: premium\n- Verification: tier 3 (premium_verified)\n- Health: 95 of 100\n")
    expect(first).toContain("`order_soup`")
    expect(first).toContain("- Why it is here: it is in the city “Denver”; it is healthy (95); score 855: ")
    expect(first).toContain(`<${berth.url}/api/v1/hub/listings/${listingIds[0]}/skill.md>`)
    expect(second).toContain("Tin Spoon\n")
    const head = await key.request("HEAD", path())
    expect([head.status, head.text]).toEqual([200, ""])
    const again = await key.request("GET", path(), { headers: { "if-none-match": head.headers.get("etag") ?? "" } })
    expect(again.status).toBe(304)
  })

  it("names a member's first 40 tools, and says how many more there are, and where", async () => {
    const big = await rated(berth, owner, { name: "Iron Pot", city: "Boulder" })
    const tools = Array.from({ length: 43 }, (_, at) => ({ name: `tool_${at + 1}`, description: "" }))
    const document = JSON.stringify({ name: "iron-pot", description: "Pots.", tools })
    await sendDoc(owner, big.listingId, document, { filename: "pot.json", type: "application/json" })
    const { id } = await compose(owner, { query_definition: { city: "Boulder" } })
    const { text } = await key.get(path(id))
    expect(text).toContain("`tool_40`, and 3 more: its own SKILL.md or its document, below\n")
    expect(text).not.toContain("tool_41")
    expect(text).toContain(
      `- How to use it (its own SKILL.md): <${berth.url}/api/v1/hub/listings/${big.listingId}/skill.md>`
    )
    const { body } = await key.get<{ data: { members: ReadonlyArray<object> } }>(`${composites}/${id}`)
    expect(body.data.members[0]).not.toHaveProperty("toolCount")
  })

  it("is the same over MCP: as a tool, and as a resource by slug or id, for those who may read it", async () => {
    const secret = await compose(owner, { name: "Secret" })
    const platform = await owner.key((await owner.project()).id)
    const [client, other, byKey] = await Promise.all(
      [key.token, stranger.token, platform.key].map((token) => connectMcp(berth.url, { token }))
    )
    const tool = await callTool(client!, "hub_composite_skill", { compositeId: made.id })
    expect(tool.structuredContent).toEqual({ markdown: (await key.get(path())).text })
    const { resourceTemplates } = await client!.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain("skill://composites/{name}/SKILL.md")
    const uri = (name: string) => `skill://composites/${name}/SKILL.md`
    for (const name of [made.slug, made.id.toLowerCase()]) {
      for (const reader of [client!, other!]) {
        const [content] = (await reader.readResource({ uri: uri(name) })).contents
        const { metadata, name: named } = frontmatterOf(String((content as { text: string }).text))
        expect([named, metadata]).toMatchObject([name, { "hub:composite_id": made.id, "hub:member_count": "2" }])
      }
      await expect(byKey!.readResource({ uri: uri(name) })).rejects.toThrow("There is no skill")
    }
    expect((await client!.readResource({ uri: uri(made.id) })).contents).toHaveLength(1)
    for (const name of [secret.slug, secret.id, secret.id.toLowerCase()]) {
      expect((await client!.readResource({ uri: uri(name) })).contents).toHaveLength(1)
      await expect(other!.readResource({ uri: uri(name) })).rejects.toThrow("There is no skill")
    }
    for (const name of ["nobody", "..", "%2e", "\u0000", "01J0000000000000000000000Z"]) {
      await expect(client!.readResource({ uri: uri(name) }), name).rejects.toThrow("There is no skill")
    }
    await Promise.all([client, other, byKey].map((one) => one?.close()))
  })
})
