import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses, newBusiness } from "../support/business.ts"
import { type FailureBody } from "../support/http.ts"
import { confirm, importOf, multipart, revert, upload } from "../support/imports.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
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

  it("is one of at most twenty of a business: the oldest is gone", async () => {
    const { id } = await newBusiness(owner)
    const ids: Array<string> = []
    for (let at = 0; at < 22; at++) ids.push(dataOf(await upload(owner, id, "a.csv", csv)).preview_id)
    const kept = await sql("SELECT id FROM import_previews WHERE business_id = $1 ORDER BY id", id)
    expect(kept.map((row) => row["id"])).toEqual(ids.slice(2))
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
  it("has at most 5,000 items and 500 categories: a confirm beyond is 422 and writes nothing", async () => {
    const { id } = await newBusiness(owner)
    await sql(
      `INSERT INTO catalog_items (id, business_id, name, item_type, price_type, sort_order)
        SELECT 'i' || n || $1, $1, 'Item', 'product', 'fixed', n FROM generate_series(1, 4999) AS n`,
      id
    )
    const { preview_id } = dataOf(await upload(owner, id, "a.csv", csv))
    expect(await confirm(owner, id, preview_id)).toMatchObject({
      status: 422,
      body: { error: { code: "validation_error" } }
    })
    await sql("DELETE FROM catalog_items WHERE business_id = $1 AND sort_order = 1", id)
    expect((await confirm(owner, id, preview_id)).status).toBe(200)
    const wide = Array.from({ length: 501 }, (_, at) => `Item ${at},Category ${at}`).join("\n")
    const other = await newBusiness(owner)
    const many = dataOf(await upload(owner, other.id, "a.csv", `name,category\n${wide}\n`)).preview_id
    expect((await confirm(owner, other.id, many)).status).toBe(422)
    expect(await sql("SELECT id FROM catalog_categories WHERE business_id = $1", other.id)).toEqual([])
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
