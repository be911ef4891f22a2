import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses, newBusiness } from "../support/business.ts"
import { type FailureBody } from "../support/http.ts"
import { confirm, importOf, multipart, revert, upload } from "../support/imports.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { itLong } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

const sql = (statement: string, ...values: ReadonlyArray<unknown>) => runSql(berth.databaseUrl, statement, values)
const csv = "name,category\nSoup,Starters\nPizza,Mains\n"
const json = JSON.stringify({
  version: "1.0",
  business: { name: "After", description: "New", custom_fields: { a: "1", b: "2" } },
  catalog_items: [{ name: "Soup", category: "Starters" }]
})

const imported = async (filename = "a.csv", content = csv) => {
  const { id } = await newBusiness(owner)
  const { preview_id: importId } = dataOf(await upload(owner, id, filename, content))
  dataOf(await confirm(owner, id, importId))
  return { id, importId }
}

describe("a revert", () => {
  it.each<[string, string, string]>([
    [
      "an item was changed",
      "a.csv",
      "UPDATE catalog_items SET name = 'x', updated_at = now() + interval '1 second' WHERE business_id = $1 AND name = 'Soup'"
    ],
    ["an item was deleted", "a.csv", "DELETE FROM catalog_items WHERE business_id = $1 AND name = 'Soup'"],
    [
      "a category was changed",
      "a.csv",
      "UPDATE catalog_categories SET name = 'x', updated_at = now() + interval '1 second' WHERE business_id = $1 AND name = 'Mains'"
    ],
    ["a category was deleted", "a.csv", "DELETE FROM catalog_categories WHERE business_id = $1 AND name = 'Mains'"],
    ["its profile was changed", "a.json", "UPDATE businesses SET name = 'Later' WHERE id = $1"],
    ["its own fields were changed", "a.json", "UPDATE businesses SET custom_fields = '{}' WHERE id = $1"]
  ])("is 409, and takes nothing, when %s since", async (_, filename, change) => {
    const { id, importId } = await imported(filename, filename === "a.csv" ? csv : json)
    await sql(change, id)
    const before = await sql("SELECT name FROM catalog_items WHERE business_id = $1 ORDER BY id", id)
    expect(await revert(owner, id, importId)).toMatchObject({ status: 409, body: { error: { code: "conflict" } } })
    expect(await sql("SELECT name FROM catalog_items WHERE business_id = $1 ORDER BY id", id)).toEqual(before)
  })

  it("is 409 while another import uses its categories, and done once that one is reverted", async () => {
    const { id, importId } = await imported()
    const { preview_id: second } = dataOf(await upload(owner, id, "b.csv", "name,category\nTart,Mains\n"))
    await confirm(owner, id, second)
    expect((await revert(owner, id, importId)).status).toBe(409)
    expect(dataOf(await revert(owner, id, second))).toMatchObject({ removed_items: 1, removed_categories: 0 })
    expect(dataOf(await revert(owner, id, importId))).toMatchObject({ removed_items: 2, removed_categories: 2 })
  })

  it("is not hindered by what else was changed", async () => {
    const { id, importId } = await imported("a.json", json)
    await owner.patch(`${businesses}/${id}`, { contact: { phone: "+15550100" } })
    expect(dataOf(await revert(owner, id, importId))).toEqual({
      removed_items: 1,
      removed_categories: 1,
      restored_profile: true
    })
    expect((await owner.get(`${businesses}/${id}`)).body).toMatchObject({
      data: { name: "Copper Ladle", customFields: {}, contact: { phone: "+15550100" } }
    })
  })

  it("of what was never imported, or of another business, is 404", async () => {
    const { importId } = await imported()
    const { id } = await newBusiness(owner)
    const { preview_id } = dataOf(await upload(owner, id, "a.csv", csv))
    for (const other of [importId, preview_id, "x", "01J00000000000000000000000"]) {
      expect(await revert(owner, id, other)).toMatchObject({ status: 404, body: { error: { code: "not_found" } } })
    }
  })
})

describe("a preview", () => {
  it("tells which categories a confirm would make and which names there are already", async () => {
    const { id } = await imported()
    const { summary } = dataOf(await upload(owner, id, "a.csv", "name,category\nSoup,Mains\nTea,Drinks\n,x\n"))
    expect(summary).toEqual({
      rows_total: 3,
      importable: 2,
      skipped: 1,
      warnings_total: 1,
      categories_to_create: ["Drinks"],
      existing_names: ["Soup"]
    })
  })

  it("puts its items into the catalog's categories, however it spells them, also one made since", async () => {
    const { id } = await imported()
    const content = "name,category\nStew, mains\nTea,DRINKS\nCake,Desserts\n"
    const { preview_id, summary } = dataOf(await upload(owner, id, "a.csv", content))
    expect(summary.categories_to_create).toEqual(["DRINKS", "Desserts"])
    const { preview_id: other } = dataOf(await upload(owner, id, "a.csv", "name,category\nCola,Drinks\n"))
    expect((await confirm(owner, id, other)).status).toBe(200)
    expect((await confirm(owner, id, preview_id)).status).toBe(200)
    const rows = await sql(
      `SELECT i.name, c.name AS category FROM catalog_items i JOIN catalog_categories c ON c.id = i.category_id
        WHERE i.business_id = $1 AND i.name IN ('Stew', 'Tea', 'Cake') ORDER BY 1`,
      id
    )
    expect(rows.map(({ category, name }) => `${String(name)}: ${String(category)}`)).toEqual([
      "Cake: Desserts",
      "Stew: Mains",
      "Tea: Drinks"
    ])
  })

  itLong("lives its hour: the 21st of a business is refused until one is confirmed, discarded or expired", async () => {
    const { id } = await newBusiness(owner)
    const shown: Array<string> = []
    for (let at = 0; at < 18; at++) shown.push(dataOf(await upload(owner, id, "a.csv", csv)).preview_id)
    const last = await Promise.all(Array.from({ length: 5 }, () => upload(owner, id, "a.csv", csv)))
    expect(last.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429])
    const refused = last.find(({ status }) => status === 429)
    expect(refused?.body).toMatchObject({ error: { code: "limit_exceeded", details: { limit: 20 } } })
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(3_500)
    expect(Number(refused?.headers.get("retry-after"))).toBeLessThanOrEqual(3_600)
    expect((await confirm(owner, id, shown[0]!)).status).toBe(200)
    expect((await upload(owner, id, "a.csv", csv)).status).toBe(200)
    expect((await upload(owner, id, "a.csv", csv)).status).toBe(429)
    const discard = `${importOf(id)}/${shown[1]!}`
    expect((await (await berth.signUp()).delete(discard)).status).toBe(404)
    expect((await owner.delete(discard)).status).toBe(204)
    expect(await owner.delete(discard)).toMatchObject({ status: 404, body: { error: { code: "not_found" } } })
    expect(await confirm(owner, id, shown[1]!)).toMatchObject({ status: 404, body: { error: { code: "not_found" } } })
    expect((await upload(owner, id, "a.csv", csv)).status).toBe(200)
    await sql("UPDATE import_previews SET expires_at = now() - interval '1 second' WHERE id = $1", shown[2])
    expect((await upload(owner, id, "a.csv", csv)).status).toBe(200)
    for (const kept of shown.slice(3)) expect((await confirm(owner, id, kept)).status).toBe(200)
  })

  it("that expired is told so until it is swept away", async () => {
    const { id } = await newBusiness(owner)
    const ids = [await upload(owner, id, "a.csv", csv), await upload(owner, id, "a.csv", csv)]
      .map((answer) => dataOf(answer).preview_id)
    await sql("UPDATE import_previews SET expires_at = now() - interval '10 minutes' WHERE id = $1", ids[0])
    await sql("UPDATE import_previews SET expires_at = now() - interval '2 hours' WHERE id = $1", ids[1])
    expect((await confirm(owner, id, ids[0]!)).body).toMatchObject({ error: { code: "preview_expired" } })
    expect((await confirm(owner, id, ids[1]!)).body).toMatchObject({ error: { code: "preview_expired" } })
  })
})

describe("a catalog", () => {
  /** A business whose catalog has so many items. */
  const filled = async (count: number) => {
    const { id } = await newBusiness(owner)
    await sql(
      `INSERT INTO catalog_items (id, business_id, name, item_type, price_type, sort_order)
        SELECT 'i' || n || $1, $1, 'Item', 'product', 'fixed', n FROM generate_series(1, $2::int) AS n`,
      id,
      count
    )
    return id
  }
  const names = async (id: string) =>
    (await sql("SELECT name FROM catalog_items WHERE business_id = $1 AND name <> 'Item' ORDER BY sort_order", id))
      .map((row) => row["name"])

  it("has at most 5,000 items: the preview says what is dropped, and a confirm does just that", async () => {
    const id = await filled(4999)
    const preview = dataOf(await upload(owner, id, "a.csv", csv))
    expect(preview).toMatchObject({
      record_count: 1,
      summary: { rows_total: 2, importable: 1, skipped: 1, warnings_total: 1 }
    })
    expect(preview.summary.categories_to_create).toEqual(["Starters"])
    expect(preview.warnings).toEqual([{
      type: "limit_truncated",
      message: "catalog holds 5000 items at most: the first 1 of the file fit, 1 were dropped",
      context: "catalog"
    }])
    expect(dataOf(await confirm(owner, id, preview.preview_id))).toEqual({ created_items: 1, warnings_count: 1 })
    expect(await names(id)).toEqual(["Soup"])
    expect(await upload(owner, id, "a.csv", csv)).toMatchObject({
      status: 422,
      body: { error: { code: "validation_error" } }
    })
    // A profile can be imported still.
    const profile = dataOf(await upload(owner, id, "a.json", json))
    expect([profile.record_count, profile.warnings.map(({ type }) => type)]).toEqual([0, ["limit_truncated"]])
    expect((await confirm(owner, id, profile.preview_id)).status).toBe(200)
  })

  it("has at most 500 categories: the items of those that are dropped are imported without one", async () => {
    const { id } = await newBusiness(owner)
    const wide = Array.from({ length: 502 }, (_, at) => `Item ${at},Category ${at}`).join("\n")
    const preview = dataOf(await upload(owner, id, "a.csv", `name,category\n${wide}\nLast,Category 1\n`))
    expect([preview.record_count, preview.summary.categories_to_create.length]).toEqual([503, 500])
    expect(preview.warnings.map(({ message }) => message)).toEqual([
      "catalog holds 500 categories at most: the first 500 new ones of the file fit, 2 were dropped, and their items have none"
    ])
    expect(dataOf(await confirm(owner, id, preview.preview_id))).toEqual({ created_items: 503, warnings_count: 1 })
    const [row] = await sql(
      `SELECT count(*)::int AS items, count(DISTINCT category_id)::int AS categories FROM catalog_items
        WHERE business_id = $1 AND category_id IS NOT NULL`,
      id
    )
    expect(row).toEqual({ items: 501, categories: 500 })
  })

  it("that has grown since the preview is 409 at a confirm, which writes nothing and may be sent again", async () => {
    const id = await filled(4998)
    const { preview_id, warnings } = dataOf(await upload(owner, id, "a.csv", csv))
    expect(warnings).toEqual([])
    await sql("UPDATE catalog_items SET business_id = $1 WHERE id = $2", id, `i1${await filled(1)}`)
    expect(await confirm(owner, id, preview_id)).toMatchObject({
      status: 409,
      body: { error: { code: "limit_exceeded", details: { limit: 5000 } } }
    })
    expect(await names(id)).toEqual([])
    await sql("DELETE FROM catalog_items WHERE business_id = $1 AND sort_order = 2", id)
    expect((await confirm(owner, id, preview_id)).status).toBe(200)
    expect(await names(id)).toEqual(["Soup", "Pizza"])
  })
})

describe("an upload", () => {
  it.each([
    ["two files", [{ filename: "a.csv", content: csv }, { filename: "b.csv", content: csv }], "file"],
    ["a file of another name", [{ name: "upload", filename: "a.csv", content: csv }], "upload"],
    ["text for a file", [{ content: csv }], "file"],
    ["a field beside", [{ filename: "a.csv", content: csv }, { name: "x", content: "1" }], "x"],
    ["an empty file", [{ filename: "a.csv", content: "" }], "file"],
    ["no file", [], "file"]
  ])("with %s is 422 that names it", async (_, parts, path) => {
    const { id } = await newBusiness(owner)
    expect(await owner.request("POST", importOf(id), multipart(parts))).toMatchObject(
      parts.length === 0 ? { status: 422 } : { status: 422, body: { error: { details: { issues: [{ path }] } } } }
    )
  })

  it.each([
    ["application/x-www-form-urlencoded", "file=x", 400],
    ["text/csv", csv, 400],
    ["application/json", "{}", 422],
    [undefined, undefined, 422]
  ])("that is no multipart body but %s is told what is expected", async (type, body, status) => {
    const { id } = await newBusiness(owner)
    const answer = await owner.request<FailureBody>("POST", importOf(id), {
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
      ...(type === undefined ? {} : { headers: { "content-type": type } })
    })
    expect(answer.status).toBe(status)
    expect(answer.body.error.message).toContain("multipart/form-data")
    expect(answer.body.error.message).not.toContain("JSON")
  })

  it("is answered as before when it is sent again with its Idempotency-Key, whatever its boundary", async () => {
    const { id } = await newBusiness(owner)
    const send = (content: string, boundary: string) => {
      const { body, headers } = multipart([{ filename: "a.csv", content }])
      const [old] = /(?<=boundary=).+/.exec(headers["content-type"]) ?? [""]
      return owner.request<{ data: { preview_id: string } }>("POST", importOf(id), {
        body: Buffer.from(body.toString("latin1").replaceAll(old, boundary), "latin1"),
        headers: { "content-type": `multipart/form-data; boundary=${boundary}`, "idempotency-key": "one" }
      })
    }
    const first = await send(csv, "a")
    expect((await send(csv, "b")).body.data.preview_id).toBe(first.body.data.preview_id)
    expect((await send("name\nOther\n", "c")).status).toBe(422)
  })

  it("is not taken from a page of elsewhere with the reader's cookie", async () => {
    const { id } = await newBusiness(owner)
    const { body, headers } = multipart([{ filename: "a.csv", content: csv }])
    const cookie = `svc_session=${owner.token}`
    const from = (origin: string) =>
      berth.request("POST", importOf(id), { body, headers: { ...headers, cookie, origin } })
    expect((await from("https://evil.example.com")).status).toBe(403)
    expect((await from(berth.url)).status).toBe(200)
  })
})

describe("the tools", () => {
  it("say what limits left out of an import, and name 20 of the items that are there already", async () => {
    const { id } = await newBusiness(owner)
    const content = `name\n${Array.from({ length: 1_003 }, (_, at) => `Soup ${at}`).join("\n")}\n`
    const client = await connectMcp(berth.url, { token: owner.token })
    const shown = await callTool(client, "import", { businessId: id, filename: "a.csv", content })
    const { preview_id: previewId } = shown.structuredContent as { preview_id: string }
    const done = await callTool(client, "import_confirm", { businessId: id, previewId })
    const sentence = "file has more than 1000 items; the 3 after those were dropped"
    expect(done.structuredContent).toEqual({ created_items: 1_000, warnings_count: 1, left_out: [sentence] })
    expect(done.content).toMatchObject([{ text: expect.stringContaining(sentence) as string }])
    const again = await callTool(client, "import", { businessId: id, filename: "a.csv", content })
    const { summary } = again.structuredContent as {
      summary: { existing_names: ReadonlyArray<string>; existing_names_total: number }
    }
    expect([summary.existing_names.length, summary.existing_names_total]).toEqual([20, 1_000])
    await client.close()
    const preview = dataOf(await upload(owner, id, "a.csv", content))
    expect(preview.summary.existing_names.length).toBe(1_000)
    expect(dataOf(await confirm(owner, id, preview.preview_id))).toEqual({ created_items: 1_000, warnings_count: 1 })
  })

  it("import, confirm and revert as the requests do", async () => {
    const { id } = await newBusiness(owner)
    const client = await connectMcp(berth.url, { token: owner.token })
    const shown = await callTool(client, "import", { businessId: id, filename: "a.csv", content: csv })
    const preview = shown.structuredContent as { preview_id: string }
    expect(preview).toMatchObject({ record_count: 2, source_format: "csv" })
    const done = await callTool(client, "import_confirm", { businessId: id, previewId: preview.preview_id })
    expect(done.structuredContent).toEqual({ created_items: 2, warnings_count: 0 })
    const again = await callTool(client, "import_confirm", { businessId: id, previewId: preview.preview_id })
    expect([again.isError, textOf(again)]).toMatchObject([true, { error: { code: "not_found" } }])
    const undone = await callTool(client, "import_revert", { businessId: id, importId: preview.preview_id })
    expect(undone.structuredContent).toMatchObject({ removed_items: 2 })
    const wrong = await callTool(client, "import", { businessId: id, filename: "a.txt", content: csv })
    expect(textOf(wrong)).toMatchObject({ error: { code: "unsupported_format" } })
    await client.close()
  })
})
