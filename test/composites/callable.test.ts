import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Running, start } from "../ready-server/bundle.ts"
import { restaurant } from "../ready-server/config.ts"
import { type Account, type Holder } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { compose, hubKey } from "../support/composites.ts"
import { type LiveMember, LiveMembers } from "../support/live-members.ts"
import { callTool, connectMcp } from "../support/mcp.ts"

const live = new LiveMembers()
const berth = useBerth({ machines: live.machines })

interface Answer {
  readonly slug: string
  readonly status: "ok" | "error" | "timeout"
  readonly result?: { readonly items: ReadonlyArray<{ readonly name: string; readonly priceCents: number }> }
  readonly message?: string
}

const pizzeria = (name: string, dishes: ReadonlyArray<readonly [string, number]>, flags = {}) => ({
  ...restaurant,
  business: { ...(restaurant["business"] as object), name },
  featureFlags: { ...(restaurant["featureFlags"] as object), ...flags },
  catalog: {
    categories: [{ id: "cat_pizza", name: "Pizza", sortOrder: 1 }],
    items: dishes.map(([dish, priceCents], i) => ({
      id: `item_${i}`,
      name: dish,
      description: "",
      categoryId: "cat_pizza",
      priceCents,
      priceType: "fixed",
      isAvailable: true,
      metadata: {}
    }))
  }
})

describe("three ready-made servers as one", () => {
  const running: Array<Running> = []
  let members: ReadonlyArray<LiveMember> = []
  let caller: Account
  let key: Holder
  let url = ""

  beforeAll(async () => {
    const owner = await berth.signUp("enterprise")
    caller = await berth.signUp()
    key = await hubKey(berth, caller)
    const flags = Object.fromEntries(
      Object.entries(restaurant["featureFlags"] as Record<string, boolean>).map(([flag, on]) => [flag, !on])
    )
    const configs = [
      pizzeria("Napoli", [["Gluten-free pizza Margherita", 1_350], ["Pizza Diavola", 1_600]]),
      pizzeria("Roma", [["Gluten-free pizza Bianca", 1_700]]),
      pizzeria("Torino", [["Gluten-free pizza Funghi", 1_250]], { ...flags, menuBrowsing: true })
    ]
    for (const [i, config] of configs.entries()) {
      const one = await start(config)
      running.push(one)
      members = [...members, await live.add(berth, owner, `pizzeria-${i}`, one.url)]
    }
    const { id } = await compose(caller, {
      name: "Pizza",
      query_definition: { listing_ids: members.map(({ business }) => business.listingId) }
    })
    url = `${berth.url}/mcp/composites/${id}`
  }, 60_000)
  afterAll(() => Promise.all(running.map((one) => one.stop())))

  const connect = (token: string) =>
    connectMcp(url.replace(/\/mcp\/composites.*/, ""), { token, path: new URL(url).pathname })
  const ask = async (client: Awaited<ReturnType<typeof connect>>) => {
    const { content, structuredContent } = await callTool(client, "search_catalog", { query: "gluten-free pizza" })
    const { answers } = structuredContent as { answers: ReadonlyArray<Answer> }
    return { answers, table: (content[0] as { text: string }).text }
  }

  it("lists copies once, and the tools of the one that differs under its name", async () => {
    for (const token of [caller.token, key.token]) {
      const client = await connect(token)
      const { tools } = await client.listTools()
      const names = tools.map(({ name }) => name)
      expect(names).toContain("composite_members")
      expect(names.filter((name) => name === "search_catalog")).toHaveLength(1)
      expect(names.filter((name) => name.startsWith(`${members[2]!.slug}__`)).length).toBeGreaterThan(0)
      const search = tools.find(({ name }) => name === "search_catalog")!
      expect(search.annotations).toMatchObject({ readOnlyHint: true })
      expect(search.inputSchema.properties).toHaveProperty("businesses")
      await client.close()
    }
  })

  it("answers which of them has a gluten-free pizza under 15 dollars in one call, and names the one that died", async () => {
    const client = await connect(key.token)
    const before = await ask(client)
    const cheap = ({ answers }: typeof before) =>
      answers.filter(({ result }) =>
        result?.items.some(({ name, priceCents }) => /gluten-free/i.test(name) && priceCents < 1_500)
      ).map(({ slug }) => slug)
    expect(before.answers.map(({ status }) => status)).toEqual(["ok", "ok", "ok"])
    expect(cheap(before).sort()).toEqual([members[0]!.slug, members[2]!.slug].sort())
    expect(before.table).toContain("| Business | Status | Answer |")
    expect(before.table).toMatch(/\| ok \| Gluten-free pizza Margherita: \$13\.50/)
    expect(before.table).not.toMatch(/[{}"]/)

    await running[2]!.stop()
    const after = await ask(client)
    expect(cheap(after)).toEqual([members[0]!.slug])
    const dead = after.answers.find(({ slug }) => slug === members[2]!.slug)!
    expect(dead).toMatchObject({ status: "error", message: expect.stringMatching(/reached|answer/) })
    expect(after.table).toContain(members[2]!.slug)
    // The list needs nobody.
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("search_catalog")
    await client.close()
  })
})
