import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf, type Holder } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses } from "../support/business.ts"
import {
  compose,
  type Composite,
  type CompositePage,
  composites,
  type Detail,
  hubKey,
  rate,
  rated
} from "../support/composites.ts"
import { freshAddress } from "../support/http.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"
import { failure, text, timestamp, ulid } from "./shapes.ts"

const berth = useBerth()
let owner: Account
let key: Holder
let listingIds: ReadonlyArray<string> = []
const day = 86_400_000

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  key = await hubKey(berth, owner)
  const shops = [
    await rated(berth, owner, { name: "Copper Ladle", health: 91, tier: 3 }),
    await rated(berth, owner, { name: "Tin Spoon", health: 80, tier: 2 }),
    await rated(berth, owner, { name: "Cold Kettle", health: 49, tier: 3 })
  ]
  listingIds = shops.map(({ listingId }) => listingId)
})

const read = (holder: Pick<Holder, "get">, id: string) => holder.get<{ data: Detail }>(`${composites}/${id}`)
const statusOf = async (answer: Promise<{ readonly status: number }>) => (await answer).status
const promote = (holder: Pick<Holder, "request">, id: string) =>
  holder.request<{ data: Composite }>("POST", `${composites}/${id}/promote`)
const browse = async (holder: Pick<Holder, "get"> = key) =>
  (await holder.get<CompositePage>(`${composites}/browse?limit=100`)).body.data
const codeOf = async (answer: Promise<{ readonly status: number; readonly body: unknown }>) => {
  const { body, status } = await answer
  return `${status} ${(body as { error?: { code: string } } | undefined)?.error?.code ?? ""}`
}

describe("composites", () => {
  row("composites: create, list own, update, delete, promote, SKILL.md", async () => {
    const query = { city: "Denver", verification_tier_min: 1, limit: 5 }
    const made = await owner.request<{ data: Composite }>("POST", composites, {
      body: { name: "Denver soups", query_definition: query }
    })
    const shape = {
      id: ulid,
      created_by: "user",
      userId: owner.id,
      name: "Denver soups",
      slug: expect.stringMatching(/^denver-soups-[0-9a-z]{10}$/) as string,
      description: "",
      visibility: "private",
      query_definition: query,
      compositeTrust: 2,
      avgHealthScore: 85.5,
      memberCount: 2,
      skillMdUrl: text,
      expiresAt: null,
      promotedAt: null,
      createdAt: timestamp,
      updatedAt: timestamp
    }
    expect([made.status, made.body]).toEqual([201, { data: shape }])
    const { id, skillMdUrl } = made.body.data
    expect(skillMdUrl).toBe(`${berth.url}${composites}/${id}/skill.md`)
    const { body: { data } } = await read(key, id)
    expect(data).toEqual({ ...shape, members: expect.any(Array) as unknown })
    expect(data.members).toMatchObject([
      { listing_id: listingIds[0], name: "Copper Ladle", mcpServerUrl: "", verification_tier: 3, health_score: 91 },
      { listing_id: listingIds[1], name: "Tin Spoon", verification_tier: 2, health_score: 80, tools: [] }
    ])
    const changed = await key.patch(`${composites}/${id}`, {
      name: "Denver",
      description: "Soups.",
      visibility: "public",
      query_definition: { listing_ids: [listingIds[1]] }
    })
    expect([changed.status, changed.body]).toMatchObject([200, {
      data: { id, name: "Denver", slug: made.body.data.slug, visibility: "public", memberCount: 1, avgHealthScore: 80 }
    }])
    expect((await owner.get(`${composites}/mine`)).body).toMatchObject({ data: [{ id, name: "Denver" }] })
    expect(await codeOf(owner.patch(`${composites}/${id}`, {}))).toBe("422 validation_error")
    const gone = await owner.delete(`${composites}/${id}`)
    expect([gone.status, gone.text]).toEqual([204, ""])
    expect(await codeOf(read(owner, id))).toBe("404 not_found")
  })

  row(
    "agent composites: always private, 400 when visibility is supplied, expire after 30 days, purged daily",
    async () => {
      const client = await connectMcp(berth.url, { token: key.token, path: "/mcp?toolsets=hub" })
      const whole = { name: "x", query_definition: { city: "Denver" } }
      for (
        const body of [
          ...["private", "public", "foo", null, 7].map((visibility) => ({ ...whole, visibility })),
          { query_definition: {}, visibility: "public", colour: "red" }
        ]
      ) {
        const answer = await key.post(composites, body)
        expect([answer.status, answer.body], JSON.stringify(body)).toEqual([400, failure("validation_error")])
        expect(answer.text).toContain("visibility: a composite that a hub key makes is private")
        const told = await callTool(client, "hub_create_composite", body)
        expect(JSON.parse((told.content[0] as { text: string }).text), JSON.stringify(body)).toEqual(answer.body)
      }
      await client.close()
      expect(await codeOf(owner.post(composites, { ...whole, visibility: "foo" }))).toBe("422 validation_error")
      expect(await statusOf(berth.request("POST", composites, { body: { visibility: "foo" } }))).toBe(401)
      const made = await compose(key)
      expect(made).toMatchObject({ created_by: "agent", userId: owner.id, visibility: "private" })
      expect(Math.abs(Date.parse(made.expiresAt ?? "") - berth.now() - 30 * day)).toBeLessThan(60_000)
      expect(await statusOf(read(owner, made.id))).toBe(200)
      berth.advance(30 * day)
      // A session of the test lives as long.
      const later = await berth.signUp()
      for (const holder of [key, await hubKey(berth, later)]) {
        expect(await codeOf(read(holder, made.id))).toBe("404 not_found")
        expect(await codeOf(holder.patch(`${composites}/${made.id}`, { name: "y" }))).toBe("404 not_found")
        expect(await codeOf(promote(holder, made.id))).toBe("404 not_found")
        expect(await codeOf(holder.delete(`${composites}/${made.id}`))).toBe("404 not_found")
        expect(await codeOf(holder.get(`${composites}/${made.id}/skill.md`))).toBe("404 not_found")
      }
      expect((await key.get(`${composites}/mine`)).body).toEqual({ data: [] })
      owner = await berth.signUp("enterprise")
      key = await hubKey(berth, owner)
    }
  )

  row(
    "agent composites: at most 50 per account, 429 limit_exceeded with Retry-After: 86400 beyond that",
    async () => {
      const account = await berth.signUp()
      const keys = [await hubKey(berth, account), await hubKey(berth, account, "builder")]
      const create = (at: number, headers = {}) =>
        keys[at % 2]!.request("POST", composites, {
          body: { name: `n${at}`, query_definition: { city: "Denver" } },
          headers: { "x-forwarded-for": freshAddress(), ...headers }
        })
      const first = await Promise.all(Array.from({ length: 40 }, (_, at) => create(at)))
      expect(first.every(({ status }) => status === 201)).toBe(true)
      const more = await Promise.all(Array.from({ length: 20 }, (_, at) => create(at)))
      expect(more.map(({ status }) => status).sort()).toEqual([
        ...Array<number>(10).fill(201),
        ...Array<number>(10).fill(429)
      ])
      for (const headers of [{}, { "idempotency-key": "one" }]) {
        const refused = await create(0, headers)
        expect([refused.status, refused.headers.get("retry-after"), refused.body]).toEqual([
          429,
          "86400",
          failure("limit_exceeded", { limit: 50 })
        ])
      }
      // The account's own session is not counted with them, and a deleted one makes room.
      expect((await compose(account)).created_by).toBe("user")
      const { body: { data } } = await account.get<{ data: ReadonlyArray<Composite> }>(`${composites}/mine`)
      expect(data.length).toBe(51)
      await account.delete(`${composites}/${data[9]!.id}`)
      expect((await Promise.all([create(0), create(1)])).map(({ status }) => status).sort()).toEqual([201, 429])
    }
  )

  row("agent composites are not made public through the update, and never appear in browse", async () => {
    const { id } = await compose(key)
    expect(await codeOf(key.patch(`${composites}/${id}`, { visibility: "public" }))).toBe("422 validation_error")
    expect(await codeOf(owner.patch(`${composites}/${id}`, { visibility: "public" }))).toBe("422 validation_error")
    expect(await statusOf(owner.patch(`${composites}/${id}`, { visibility: "private", name: "Mine" }))).toBe(200)
    expect((await browse()).map((composite) => composite.id)).not.toContain(id)
  })

  row(
    "promotion by the owning account with a builder key: no expiresAt, public, browsable; 409 the second time",
    async () => {
      const { id } = await compose(key)
      const explorer = await hubKey(berth, owner, "explorer")
      const tier = await promote(explorer, id)
      expect([tier.status, tier.body]).toEqual([403, failure("forbidden", { requiredTier: "builder" })])
      const without = await berth.signUp()
      const bySession = await promote(without, (await compose(without)).id)
      expect([bySession.status, bySession.body]).toEqual([403, failure("forbidden", { requiredTier: "builder" })])
      const stranger = await hubKey(berth, await berth.signUp())
      expect(await codeOf(promote(stranger, id))).toBe("404 not_found")
      const builder = await hubKey(berth, owner, "builder")
      const both = await Promise.all([promote(builder, id), promote(key, id)])
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
      const done = both.find(({ status }) => status === 200)?.body.data
      expect(done).toMatchObject({ created_by: "agent", visibility: "public", expiresAt: null, promotedAt: timestamp })
      expect(await codeOf(promote(key, id))).toBe("409 conflict")
      expect((await browse(stranger)).map((composite) => composite.id)).toContain(id)
      expect((await read(stranger, id)).body.data).toMatchObject({ id, memberCount: expect.any(Number) as number })
      // Seen by all, and changed by its owner alone.
      expect(await codeOf(stranger.patch(`${composites}/${id}`, { name: "x" }))).toBe("404 not_found")
      expect(await codeOf(stranger.delete(`${composites}/${id}`))).toBe("404 not_found")
      expect(await codeOf(key.patch(`${composites}/${id}`, { visibility: "private" }))).toBe("422 validation_error")
      expect(await statusOf(key.patch(`${composites}/${id}`, { visibility: "public", name: "Best soups" }))).toBe(200)
      const kept = await compose(owner)
      expect((await promote(owner, kept.id)).body.data).toMatchObject({ created_by: "user", visibility: "public" })
    }
  )

  row("system composites: 403 on update, delete and promotion", async () => {
    const id = "01J00000000000000000SYSTEM"
    await runSql(
      berth.databaseUrl,
      `INSERT INTO composites (id, created_by, name, slug, visibility, query_definition)
       VALUES ($1, 'system', 'Denver Restaurants', 'denver-restaurants', 'public', '{"city":"Denver"}')`,
      [id]
    )
    expect((await read(key, id)).body.data).toMatchObject({ created_by: "system", userId: null })
    expect(await codeOf(key.patch(`${composites}/${id}`, { name: "x" }))).toBe("403 forbidden")
    expect(await codeOf(owner.patch(`${composites}/${id}`, {}))).toBe("403 forbidden")
    expect(await codeOf(key.delete(`${composites}/${id}`))).toBe("403 forbidden")
    expect(await codeOf(promote(key, id))).toBe("403 forbidden")
    expect((await read(key, id)).body.data).toMatchObject({ name: "Denver Restaurants" })
  })

  row("list of own composites: up to 200, capped with X-Truncated: true", async () => {
    const account = await berth.signUp()
    await runSql(
      berth.databaseUrl,
      `INSERT INTO composites (id, created_by, user_id, name, slug, visibility, query_definition)
       SELECT '01J0000000000000000000' || lpad(n::text, 4, '0'), 'user', $1, 'n', 'n', 'private', '{"city":"Denver"}'
       FROM generate_series(1, 200) n`,
      [account.id]
    )
    const whole = await account.get<{ data: ReadonlyArray<Composite> }>(`${composites}/mine`)
    expect([whole.body.data.length, whole.headers.get("x-truncated")]).toEqual([200, null])
    const newest = await compose(account, { name: "newest" })
    const capped = await account.get<{ data: ReadonlyArray<Composite>; truncated?: boolean }>(`${composites}/mine`)
    expect([capped.body.data.length, capped.headers.get("x-truncated"), capped.body.truncated]).toEqual([
      200,
      "true",
      true
    ])
    expect(capped.body.data[0]).toEqual(newest)
    expect((await owner.get<{ data: ReadonlyArray<Composite> }>(`${composites}/mine`)).text).not.toContain(account.id)
  })

  it("own ones are listed by the time that callers see, newest first, and then by id", async () => {
    const account = await berth.signUp()
    const times = ["00.0014", "00.0006", "00.0012", "00.003", "00"]
    await runSql(
      berth.databaseUrl,
      `INSERT INTO composites (id, created_by, user_id, name, slug, visibility, query_definition, created_at)
       SELECT '01J000000000000000000B000' || n, 'user', $1, 'n', 'n', 'private', '{"city":"Denver"}', time
       FROM unnest($2::timestamptz[]) WITH ORDINALITY AS made (time, n)`,
      [account.id, times.map((seconds) => `2026-01-01 00:00:${seconds}Z`)]
    )
    const { body: { data } } = await account.get<{ data: ReadonlyArray<Composite> }>(`${composites}/mine`)
    expect(data.map(({ createdAt, id }) => [createdAt.slice(17), id.at(-1)])).toEqual([
      ["00.003Z", "4"],
      ["00.001Z", "3"],
      ["00.001Z", "2"],
      ["00.001Z", "1"],
      ["00.000Z", "5"]
    ])
  })

  row(
    "recomputation drops members whose health or verification lapses; a composite without members says so",
    async () => {
      const shop = await rated(berth, owner, { city: "Lapse", health: 88, tier: 3 })
      const other = await rated(berth, owner, { city: "Lapse", health: 60, tier: 2 })
      const { id } = await compose(key, { query_definition: { city: "Lapse", verification_tier_min: 2 } })
      const now = async () => {
        const { avgHealthScore, compositeTrust, memberCount, members } = (await read(key, id)).body.data
        return [memberCount, compositeTrust, avgHealthScore, members.map(({ listing_id }) => listing_id)]
      }
      expect(await now()).toEqual([2, 2, 74, [shop.listingId, other.listingId]])
      await rate(berth, other.listingId, { tier: 1 })
      expect(await now()).toEqual([1, 3, 88, [shop.listingId]])
      await rate(berth, shop.listingId, { health: 49 })
      expect(await now()).toEqual([0, 0, 0, []])
      expect((await key.get(`${composites}/${id}/skill.md`)).text).toContain(
        "No business meets its conditions at the moment"
      )
      await rate(berth, shop.listingId, { health: 50 })
      expect(await now()).toEqual([1, 3, 50, [shop.listingId]])
      await owner.patch(`/v1/directory/${shop.listingId}`, { visible: false })
      expect(await now()).toEqual([0, 0, 0, []])
    }
  )
})

describe("composites refuse", () => {
  it("what is not valid, and say where", async () => {
    const cases: ReadonlyArray<readonly [object, string, string]> = [
      [{ name: "x", query_definition: {} }, "422 validation_error", "query_definition"],
      [{ name: "x", query_definition: { city: "Denver", colour: "red" } }, "422 validation_error", "colour"],
      [{ name: "x", query_definition: { limit: 5 } }, "422 validation_error", "query_definition"],
      [
        { name: "x", query_definition: { city: "Denver", health_score_min: 49 } },
        "422 validation_error",
        "health_score_min"
      ],
      [{ name: "x", query_definition: { lat: 1, lng: 2 } }, "400 validation_error", "radius_miles"],
      [{ name: "x", query_definition: { listing_ids: ["x"] } }, "422 validation_error", "listing_ids"],
      [{ name: "", query_definition: { city: "Denver" } }, "422 validation_error", "name"],
      [{ query_definition: { city: "Denver" } }, "422 validation_error", "name"],
      [{ name: "x" }, "422 validation_error", "query_definition"],
      [{ name: "x", query_definition: { city: "Denver" }, created_by: "system" }, "422 validation_error", "created_by"],
      [{ name: "x", query_definition: { city: "Den\u0000ver" } }, "422 validation_error", "city"],
      [{ name: "x", query_definition: { city: "%" } }, "422 validation_error", "query_definition.city"],
      [{ name: "x", query_definition: { vertical: "-", city: "Denver" } }, "422 validation_error", "vertical"],
      [{ name: "x", query_definition: { category: "\u202e" } }, "422 validation_error", "category"],
      [{ name: "x", query_definition: { city: "Denver", state: "C\u0007O" } }, "422 validation_error", "state"],
      ...["", " ", "%", "\u202e"].map((state) =>
        [{ name: "x", query_definition: { state } }, "422 validation_error", "query_definition.state"] as const
      )
    ]
    const { id } = await compose(owner)
    for (const [body, code, path] of cases) {
      const made = await owner.post(composites, body)
      expect(await codeOf(Promise.resolve(made)), JSON.stringify(body)).toBe(code)
      expect(made.text, JSON.stringify(body)).toContain(path)
      if ("query_definition" in body && "name" in body) {
        expect(await codeOf(owner.patch(`${composites}/${id}`, body)), JSON.stringify(body)).toBe(code)
      }
    }
    expect((await owner.get<{ data: Array<Composite> }>(`${composites}/mine`)).text).not.toContain("\"x\"")
  })

  it("no place without a state, as a dynamic composite of it has it", async () => {
    const { id, listingId } = await rated(berth, owner, { city: "Suva" })
    await owner.patch(`${businesses}/${id}`, { contact: { address: { city: "Suva", state: "" } } })
    await rate(berth, listingId, { health: 90 })
    expect(await compose(owner, { query_definition: { city: "Suva", state: "" } })).toMatchObject({ memberCount: 1 })
  })

  it("a bad id, limit or cursor: 400 validation_error", async () => {
    for (
      const [method, path] of [["GET", "/x"], ["PATCH", "/x"], ["DELETE", "/x"], ["POST", "/x/promote"], [
        "GET",
        "/x/skill.md"
      ]]
    ) {
      const answer = key.request(method ?? "", composites + path, method === "PATCH" ? { body: { name: "x" } } : {})
      expect(await codeOf(answer), path).toBe("400 validation_error")
    }
    for (
      const query of [
        "limit=0",
        "limit=101",
        "limit=x",
        "limit=1&limit=2",
        "cursor=x",
        "cursor=" + btoa("composites\n9 1 1 x")
      ]
    ) {
      expect(await codeOf(key.get(`${composites}/browse?${query}`)), query).toBe("400 validation_error")
    }
  })

  it("credentials that are not enough", async () => {
    const { id } = await compose(owner)
    const platform = await owner.holder((await owner.project()).id)
    const nobody = { request: berth.request }
    const paths = [["GET", `/${id}`], ["GET", "/mine"], ["GET", "/browse"], ["GET", `/${id}/skill.md`], [
      "DELETE",
      `/${id}`
    ]]
    for (const [method = "", path = ""] of paths) {
      expect(await codeOf(platform.request(method, composites + path)), path).toBe("401 unauthorized")
      expect(await codeOf(nobody.request(method, composites + path)), path).toBe("401 unauthorized")
    }
    expect(await statusOf(owner.get(`${composites}/browse`))).toBe(200)
    const askedFor = async (method: string, path: string) =>
      (await berth.request<{ error: { message: string } }>(method, path)).body.error.message
    const asked = ["", "/browse", `/${id}`].map((path) => ["GET", composites + path])
    for (
      const [method = "", path = ""] of [
        ...asked,
        ["POST", `${composites}/${id}/promote`],
        ["POST", `/mcp/composites/${id}`]
      ]
    ) {
      expect(await askedFor(method, path), path).toMatch(
        /^Send a session token \([^)]*\) or a hub key \([^)]*\) as Bearer$/
      )
    }
    const stranger = await berth.signUp()
    for (const holder of [stranger, await hubKey(berth, stranger)]) {
      expect(await codeOf(read(holder, id))).toBe("404 not_found")
      expect(await codeOf(holder.get(`${composites}/${id}/skill.md`))).toBe("404 not_found")
      expect(await codeOf(holder.patch(`${composites}/${id}`, { name: "x" }))).toBe("404 not_found")
      expect(await codeOf(holder.delete(`${composites}/${id}`))).toBe("404 not_found")
    }
    expect(dataOf(await read(owner, id)).name).toBe("Denver soups")
  })

  it("more than 500 that stay, made by a session or promoted: 409, and exact at once", async () => {
    const account = await berth.signUp()
    await runSql(
      berth.databaseUrl,
      `INSERT INTO composites (id, created_by, user_id, name, slug, visibility, query_definition)
       SELECT '01J1000000000000000000' || lpad(n::text, 4, '0'), 'user', $1, 'n', 'n', 'private', '{"city":"Denver"}'
       FROM generate_series(1, 499) n`,
      [account.id]
    )
    const agent = await hubKey(berth, account)
    const made = [await compose(agent), await compose(agent)]
    const body = { name: "x", query_definition: { city: "Denver" } }
    const all = await Promise.all([...made.map(({ id }) => promote(agent, id)), account.post(composites, body)])
    const statuses = all.map(({ status }) => status)
    expect(statuses.filter((status) => status < 300).length, statuses.join()).toBe(1)
    for (const { body, status } of all) {
      if (status >= 300) expect([status, body]).toEqual([409, failure("conflict", { limit: 500 })])
    }
    const [left] = made.filter((_, at) => statuses[at] === 409)
    expect((await read(agent, left!.id)).body.data).toMatchObject({ visibility: "private", promotedAt: null })
  })

  it("nothing of an account that is gone: its composites went with it", async () => {
    const account = await berth.signUp()
    const { id } = await compose(account, { visibility: "public" })
    await runSql(berth.databaseUrl, "DELETE FROM users WHERE id = $1", [account.id])
    expect(await codeOf(read(key, id))).toBe("404 not_found")
  })

  it("a second creation with the same Idempotency-Key", async () => {
    const body = { name: "once", query_definition: { city: "Denver" } }
    const send = () =>
      key.request<{ data: Composite }>("POST", composites, { body, headers: { "idempotency-key": "k1" } })
    const [first, second] = [dataOf(await send()), dataOf(await send())]
    expect(second).toEqual(first)
  })
})
