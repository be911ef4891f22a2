import { setTimeout } from "node:timers/promises"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"
import { confirm, importOf, revert, upload } from "../support/imports.ts"
import { itLong } from "../support/needs.ts"
import { holdLock, runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

const sql = (statement: string, ...values: ReadonlyArray<unknown>) => runSql(berth.databaseUrl, statement, values)

const file = JSON.stringify({
  version: "1.0",
  business: { name: "After", description: "Changed", vertical: "salon", custom_fields: { parking: "yes" } },
  catalog_items: Array.from(
    { length: 200 },
    (_, at) => ({ name: `Item ${at}`, price: at, category: `Category ${at % 7}` })
  )
})

/** Everything that a confirm writes. */
const written = async (id: string) => {
  const [row] = await sql(
    `SELECT (SELECT count(*)::int FROM catalog_items WHERE business_id = $1) AS items,
      (SELECT count(*)::int FROM catalog_categories WHERE business_id = $1) AS categories,
      (SELECT count(*)::int FROM import_audit WHERE business_id = $1) AS imports,
      (SELECT count(*)::int FROM import_previews WHERE business_id = $1) AS previews,
      (SELECT name FROM businesses WHERE id = $1) AS name,
      (SELECT catalog_synced_at IS NOT NULL FROM businesses WHERE id = $1) AS synced`,
    id
  )
  return row
}
const nothing = { items: 0, categories: 0, imports: 0, previews: 1, name: "Before", synced: false }
const everything = { items: 200, categories: 7, imports: 1, previews: 0, name: "After", synced: true }

const shown = async () => {
  const { id } = await newBusiness(owner, { name: "Before" })
  return { id, previewId: dataOf(await upload(owner, id, "a.json", file)).preview_id }
}

const statuses = (answers: ReadonlyArray<{ readonly status: number }>) => answers.map(({ status }) => status).sort()

/** Until a statement of the platform waits for a lock. */
const waiting = async () => {
  for (let tries = 0; tries < 200; tries++) {
    const rows = await sql(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    )
    if (rows[0] !== undefined) return Number(rows[0]["pid"])
    await setTimeout(25)
  }
  throw new Error("nothing waits")
}

describe("confirms at once", () => {
  it("of one preview import it once; the others are 404", async () => {
    const { id, previewId } = await shown()
    const answers = await Promise.all(Array.from({ length: 8 }, () => confirm(owner, id, previewId)))
    expect(statuses(answers)).toEqual([200, 404, 404, 404, 404, 404, 404, 404])
    expect(await written(id)).toEqual(everything)
  })

  it("of several previews are one after the other, in places of their own", async () => {
    const { id } = await newBusiness(owner)
    const previews = await Promise.all(["a", "b", "c"].map(async (name) => {
      const rows = Array.from({ length: 50 }, (_, at) => `${name} ${at},Shared ${at % 3}`).join("\n")
      return dataOf(await upload(owner, id, "a.csv", `name,category\n${rows}\n`)).preview_id
    }))
    expect(statuses(await Promise.all(previews.map((preview) => confirm(owner, id, preview))))).toEqual([200, 200, 200])
    const rows = await sql("SELECT name, sort_order FROM catalog_items WHERE business_id = $1 ORDER BY sort_order", id)
    expect(rows.map((row) => row["sort_order"])).toEqual(Array.from({ length: 150 }, (_, at) => at))
    const order = [0, 50, 100].map((from) => rows.slice(from, from + 50).map((row) => String(row["name"])[0]))
    expect(order.map((letters) => new Set(letters).size)).toEqual([1, 1, 1])
    expect(await sql("SELECT name, sort_order FROM catalog_categories WHERE business_id = $1 ORDER BY 2", id)).toEqual(
      [0, 1, 2].map((at) => ({ name: `Shared ${at}`, sort_order: at }))
    )
  })

  it("and edits of the profile lose nothing of either", async () => {
    const { id, previewId } = await shown()
    const answers = await Promise.all([
      confirm(owner, id, previewId),
      ...Array.from(
        { length: 5 },
        (_, at) => owner.patch(`${businesses}/${id}`, { contact: { phone: `+1555010${at}` } })
      )
    ])
    expect(new Set(statuses(answers))).toEqual(new Set([200]))
    const { contact, name } = dataOf(await owner.get<{ data: Business }>(`${businesses}/${id}`))
    expect([name, contact.phone]).toEqual(["After", expect.stringMatching(/^\+1555010\d$/)])
  })
})

describe("reverts at once", () => {
  itLong("of one import take it back once; the others are 409", async () => {
    const { id, previewId } = await shown()
    await confirm(owner, id, previewId)
    const answers = await Promise.all(Array.from({ length: 6 }, () => revert(owner, id, previewId)))
    expect(statuses(answers)).toEqual([200, 409, 409, 409, 409, 409])
    expect(await written(id)).toEqual({ ...nothing, imports: 1, previews: 0, synced: true })
  })

  itLong("and the confirm of another leave that one whole, whichever is first", async () => {
    const { id, previewId } = await shown()
    await confirm(owner, id, previewId)
    const second = dataOf(await upload(owner, id, "b.csv", "name,category\nOther,Category 3\n")).preview_id
    const [reverted, confirmed] = await Promise.all([revert(owner, id, previewId), confirm(owner, id, second)])
    expect([confirmed.status, [200, 409].includes(reverted.status)]).toEqual([200, true])
    const items = reverted.status === 200 ? 1 : 201
    expect(await written(id)).toMatchObject({ items, imports: 2 })
    const [other] = await sql(
      `SELECT c.name AS category FROM catalog_items i JOIN catalog_categories c ON c.id = i.category_id
        WHERE i.business_id = $1 AND i.name = 'Other'`,
      id
    )
    expect(other).toEqual({ category: "Category 3" })
  })
})

describe("a deletion at once", () => {
  it("with a confirm leaves all of it or none: 200 or 404, and no row without a business", async () => {
    for (let round = 0; round < 5; round++) {
      const { id, previewId } = await shown()
      const [confirmed, deleted] = await Promise.all([
        confirm(owner, id, previewId),
        owner.delete(`${businesses}/${id}`)
      ])
      expect([deleted.status, [200, 404].includes(confirmed.status)]).toEqual([204, true])
      expect(await written(id)).toMatchObject({
        items: 0,
        categories: 0,
        previews: 0,
        imports: confirmed.status === 200 ? 1 : 0
      })
    }
  })

  it("with uploads is a preview or a 404", async () => {
    const { id } = await newBusiness(owner)
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, () => upload(owner, id, "a.json", file)),
      owner.delete(`${businesses}/${id}`).then((answer) => ({ status: answer.status === 204 ? 200 : answer.status }))
    ])
    expect(answers.every(({ status }) => status === 200 || status === 404)).toBe(true)
    expect(await written(id)).toMatchObject({ previews: 0 })
  })
})

describe("a confirm that is broken off", () => {
  it("in its middle, by the end of its connection, has written nothing, and can be sent again", async () => {
    const { id, previewId } = await shown()
    const release = await holdLock(berth.databaseUrl, "LOCK TABLE catalog_items IN SHARE MODE", [])
    const answer = confirm(owner, id, previewId)
    const backend = await waiting()
    expect(await sql("SELECT pg_terminate_backend($1) AS done", backend)).toEqual([{ done: true }])
    await release()
    expect((await answer).status).toBe(503)
    expect(await written(id)).toEqual(nothing)
    expect(dataOf(await confirm(owner, id, previewId))).toEqual({ created_items: 200, warnings_count: 0 })
    expect(await written(id)).toEqual(everything)
  })

  it("by the audit that can't be written, has written nothing", async () => {
    const { id, previewId } = await shown()
    await sql(
      `INSERT INTO import_audit (id, business_id, account_id, source_format, created_items, created_categories,
      warnings_count) VALUES ($1, 'x', 'x', 'csv', 0, 0, 0)`,
      previewId
    )
    const before = berth.logged.length
    expect((await confirm(owner, id, previewId)).status).toBe(500)
    berth.logged.splice(before)
    expect(await written(id)).toEqual(nothing)
  })
})

describe("files at once of one account", () => {
  it("are read one after the other, and beyond eight refused for now: 429 with Retry-After", async () => {
    const { id } = await newBusiness(owner)
    const lines = `name,price\n${"\n".repeat(9_000_000)}`
    const answers = await Promise.all(Array.from({ length: 12 }, () => upload(owner, id, "a.csv", lines)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]!.headers.get("retry-after")).toBe("5")
    expect(refused[0]!.text).toContain("Too many files of this account are being read")
    const read = answers.filter(({ status }) => status === 422)
    expect([read.length >= 8, read.length + refused.length]).toEqual([true, 12])
    expect(read[0]!.text).toContain("has no row that can be imported")
    expect((await upload(owner, id, "a.csv", "name\nSoup\n")).status).toBe(200)
  })
})

describe("the limit of imports", () => {
  itLong(
    "is 100 a minute for a business and an address, previews and confirms together: 429 with Retry-After",
    async () => {
      const { id } = await newBusiness(owner)
      const other = await newBusiness(owner)
      const answers: Array<number> = []
      for (let at = 0; at < 51; at++) {
        answers.push((await upload(owner, id, "a.txt", "x")).status, (await confirm(owner, id, "x")).status)
      }
      expect([
        answers.filter((status) => status === 422).length,
        answers.filter((status) => status === 404).length,
        answers.slice(100)
      ])
        .toEqual([50, 50, [429, 429]])
      const refused = await upload(owner, id, "a.csv", "name\nSoup\n")
      expect(refused).toMatchObject({ status: 429, body: { error: { code: "rate_limited" } } })
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0)
      expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60)
      expect((await upload(owner, other.id, "a.csv", "name\nSoup\n")).status).toBe(200)
      const elsewhere = await berth.request("POST", `${importOf(id)}/x/confirm`, { token: owner.token })
      expect(elsewhere.status).toBe(404)
    }
  )
})
