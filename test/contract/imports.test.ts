import { beforeAll, expect } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"
import { confirm, importOf, multipart, upload } from "../support/imports.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"
import { failure, timestamp, ulid } from "./shapes.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

const sql = (statement: string, ...values: ReadonlyArray<unknown>) => runSql(berth.databaseUrl, statement, values)
const fresh = async (fields = {}) => (await newBusiness(owner, fields)).id
const read = async (id: string) => dataOf(await owner.get<{ data: Business }>(`${businesses}/${id}`))
/** In the lower-case vocabulary of these endpoints. */
const refused = (status: number, code: string) => {
  const { error } = failure(code)
  return { status, body: { error: { ...error, code } } }
}

const business = { name: "Ladle", description: "A kitchen" }
const json = (catalog_items: unknown, more: object = {}) =>
  JSON.stringify({ version: "1.0", business: { ...business, ...more }, catalog_items })
const imported = async (id: string, filename: string, content: string) => {
  const preview = dataOf(await upload(owner, id, filename, content))
  return { preview, confirmed: dataOf(await confirm(owner, id, preview.preview_id)) }
}
const catalog = (id: string) =>
  sql(
    `SELECT i.name, i.description, i.item_type, i.price_cents, i.price_type, i.currency, i.is_available, i.sort_order,
      c.name AS category FROM catalog_items i LEFT JOIN catalog_categories c ON c.id = i.category_id
      WHERE i.business_id = $1 ORDER BY i.sort_order`,
    id
  )

row("POST /api/v1/ready/businesses/{id}/import → 200 { data: preview }", async () => {
  const id = await fresh()
  for (const type of ["text/csv", "application/octet-stream", "application/json"]) {
    const sent = multipart([{ filename: "Menu.CSV", type, content: "name\nSoup\n" }])
    const answer = await owner.request("POST", importOf(id), sent)
    expect([answer.status, answer.body]).toMatchObject([200, { data: { preview_id: ulid, source_format: "csv" } }])
  }
})

row("POST /api/v1/ready/businesses/{id}/import/{preview_id}/confirm → 200 { data }", async () => {
  const { confirmed } = await imported(await fresh(), "a.csv", "name,price\nSoup,x\n")
  expect(confirmed).toEqual({ created_items: 1, warnings_count: 1 })
})

row(
  "import preview: preview_id, source_format, record_count, field_mappings[], warnings[], expires_at in an hour",
  async () => {
    const id = await fresh()
    const preview = dataOf(await upload(owner, id, "a.json", json([{ name: "Soup", price: 8.99 }])))
    expect(preview).toMatchObject({
      preview_id: ulid,
      source_format: "ezforge_json",
      record_count: 1,
      warnings: [],
      expires_at: timestamp
    })
    const left = new Date(preview.expires_at).getTime() - Date.now()
    expect(left > 3_590_000 && left <= 3_600_000).toBe(true)
    expect(preview.field_mappings).toContainEqual({
      source_field: "catalog_items[].price",
      target_field: "price",
      sample_value: "8.99"
    })
  }
)

row(
  "import warnings are field_skipped, value_coerced, limit_truncated, format_error with message and context",
  async () => {
    // Of different names: doubles have a warning of their own.
    const many = Array.from({ length: 1000 }, (_, at) => ({ name: `C ${at}` }))
    const items = [{ name: "A", price: "8" }, { name: "B", item_type: "x" }, "text", ...many]
    const { warnings } = dataOf(await upload(owner, await fresh(), "a.json", json(items, { website: "http://a" })))
    expect(warnings.map(({ context, type }) => [type, context])).toEqual([
      ["field_skipped", "catalog_items[0].price"],
      ["value_coerced", "catalog_items[1].item_type"],
      ["format_error", "catalog_items[2]"],
      ["limit_truncated", "catalog_items"],
      ["field_skipped", "business.website"]
    ])
    for (const { message } of warnings) expect(message).toMatch(/.{10,}/)
  }
)

row("import JSON: version 1.0, business and catalog_items with the contract's fields and defaults", async () => {
  const id = await fresh()
  await imported(id, "a.json", json([{ name: "Soup" }]))
  expect(await catalog(id)).toMatchObject([
    { name: "Soup", description: "", item_type: "product", price_cents: null, price_type: "fixed", category: null }
  ])
})

row(
  "import CSV: any subset of the columns, name required, unknown ones ignored, rows without a name skipped",
  async () => {
    const id = await fresh()
    const { preview } = await imported(id, "a.csv", "colour,name,price\nred,Soup,8.99\nblue,,1\n")
    expect([preview.record_count, preview.unmapped_columns]).toEqual([1, ["colour"]])
    expect(await catalog(id)).toMatchObject([
      { name: "Soup", description: "", item_type: "product", price_cents: 899, price_type: "fixed", category: null }
    ])
  }
)

row("import templates are at /hub/templates/*.csv; those of restaurants and shops leave out price_type", async () => {
  for (const name of ["generic_catalog", "restaurant_menu", "retail_inventory", "services_catalog"]) {
    const file = await berth.request("GET", `/hub/templates/${name}.csv`)
    expect([file.status, file.headers.get("content-type"), file.headers.get("content-disposition")])
      .toEqual([200, "text/csv; charset=utf-8", `attachment; filename="${name}.csv"`])
    expect(file.text.includes("price_type")).toBe(!/^re/.test(name))
    const { preview } = await imported(await fresh(), `${name}.csv`, file.text)
    expect([preview.warnings, preview.unmapped_columns]).toEqual([[], []])
  }
})

row(
  "import confirm 1: a JSON business updates name, description, website, industry and the profile; CSV touches neither",
  async () => {
    const id = await fresh({ name: "Before" })
    await imported(id, "a.csv", "name\nSoup\n")
    expect((await read(id)).name).toBe("Before")
    await imported(
      id,
      "a.json",
      json([], {
        vertical: "salon",
        website: "https://a.example.com",
        phone: "1",
        location: { city: "C", state: "S", zip: "Z" },
        custom_fields: { a: "b" }
      })
    )
    expect(await read(id)).toMatchObject({
      ...business,
      industry: "salon",
      templateType: "salon",
      contact: { website: "https://a.example.com", phone: "1", address: { city: "C", state: "S", zip: "Z" } },
      customFields: { a: "b" }
    })
  }
)

row(
  "import confirm 2: categories match by name, missing ones are made in file order after those that are there",
  async () => {
    const id = await fresh()
    await imported(id, "a.csv", "name,category\nA,Second\nB,First\n")
    await imported(id, "b.csv", "name,category\nC,Zeta\nD,First\nE,Alpha\n")
    expect(await sql("SELECT name, sort_order FROM catalog_categories WHERE business_id = $1 ORDER BY 2", id)).toEqual(
      ["Second", "First", "Zeta", "Alpha"].map((name, sort_order) => ({ name, sort_order }))
    )
  }
)

row("import confirm 3: items are added after those that are there, in USD, available, in cents", async () => {
  const id = await fresh()
  await imported(id, "a.csv", "name,price\nA,8.2\n")
  await imported(id, "a.json", json([{ name: "B", price: 1.1 }, { name: "C", price: 19.99 }]))
  const made = { currency: "USD", is_available: true }
  expect(await catalog(id)).toMatchObject([
    { name: "A", price_cents: 820, sort_order: 0, ...made },
    { name: "B", price_cents: 110, sort_order: 1, ...made },
    { name: "C", price_cents: 1999, sort_order: 2, ...made }
  ])
})

row("import confirm 4: a row in the audit log, and the preview is gone", async () => {
  const id = await fresh()
  const { preview } = await imported(id, "a.csv", "name\nA\nB\n")
  expect(await sql("SELECT id, account_id, source_format, created_items FROM import_audit WHERE business_id = $1", id))
    .toEqual([{ id: preview.preview_id, account_id: owner.id, source_format: "csv", created_items: 2 }])
  expect(await sql("SELECT id FROM import_previews WHERE business_id = $1", id)).toEqual([])
})

row("import upload: 401 unauthorized, and for an API key too", async () => {
  const { id, projectId } = await newBusiness(owner)
  const key = await owner.holder(projectId)
  expect(await upload(berth, id, "a.csv", "name\nA\n")).toMatchObject(refused(401, "unauthorized"))
  expect(await upload(key, id, "a.csv", "name\nA\n")).toMatchObject(refused(401, "unauthorized"))
})

row("import upload: 404 not_found, business missing or not owned", async () => {
  const stranger = await berth.signUp()
  expect(await upload(stranger, await fresh(), "a.csv", "name\nA\n")).toMatchObject(refused(404, "not_found"))
  expect(await upload(owner, "x", "a.csv", "name\nA\n")).toMatchObject(refused(404, "not_found"))
})

row("import upload: 413 file_too_large over 10 MB", async () => {
  const id = await fresh()
  const most = 10 * 1024 * 1024
  const file = (size: number) => Buffer.concat([Buffer.from("name\nSoup\n"), Buffer.alloc(size - 10, 0x0a)])
  expect((await upload(owner, id, "a.csv", file(most))).status).toBe(200)
  for (const size of [most + 1, 3 * most]) {
    const answer = await upload(owner, id, "a.csv", file(size))
    expect(answer).toMatchObject(refused(413, "file_too_large"))
    expect(answer.headers.get("connection")).toBe("close")
  }
})

row("import upload: 422 unsupported_format, another extension", async () => {
  const id = await fresh()
  for (const name of ["a.txt", "a", "a.xlsx", "a.csv.zip"]) {
    expect(await upload(owner, id, name, "name\nA\n")).toMatchObject(refused(422, "unsupported_format"))
  }
})

row("import upload: 422 validation_error for each fatal fault", async () => {
  const id = await fresh()
  const files: ReadonlyArray<readonly [string, string]> = [
    ["a.json", "{"],
    ["a.json", "[]"],
    ["a.json", JSON.stringify({ version: "2.0", business })],
    ["a.json", JSON.stringify({ version: "1.0" })],
    ["a.json", JSON.stringify({ version: "1.0", business: [] })],
    ["a.json", JSON.stringify({ version: "1.0", business: { description: "x" } })],
    ["a.json", JSON.stringify({ version: "1.0", business: { name: "x", description: " " } })],
    ["a.csv", "title\nSoup\n"],
    ["a.csv", "name,price\n,1\n"],
    ["a.csv", ""]
  ]
  for (const [name, content] of files) {
    const answer = await upload(owner, id, name, content)
    expect(answer, content).toMatchObject({ status: 422, body: { error: { code: "validation_error" } } })
  }
  expect(await owner.request("POST", importOf(id), multipart([]))).toMatchObject({ status: 422 })
})

row("import confirm: 404 not_found, preview missing or confirmed already", async () => {
  const [id, other] = [await fresh(), await fresh()]
  const { preview } = await imported(id, "a.csv", "name\nA\n")
  const second = dataOf(await upload(owner, id, "a.csv", "name\nA\n")).preview_id
  const stranger = await berth.signUp()
  expect(await confirm(owner, id, preview.preview_id)).toMatchObject(refused(404, "not_found"))
  expect(await confirm(owner, id, "x")).toMatchObject(refused(404, "not_found"))
  expect(await confirm(owner, other, second)).toMatchObject(refused(404, "not_found"))
  expect(await confirm(stranger, id, second)).toMatchObject(refused(404, "not_found"))
  expect((await confirm(owner, id, second)).status).toBe(200)
})

row("import confirm: 422 preview_expired after an hour", async () => {
  const id = await fresh()
  const { preview_id } = dataOf(await upload(owner, id, "a.csv", "name\nA\n"))
  await sql("UPDATE import_previews SET expires_at = now() - interval '1 second' WHERE id = $1", preview_id)
  expect(await confirm(owner, id, preview_id)).toMatchObject(refused(422, "preview_expired"))
  expect(await catalog(id)).toEqual([])
})

row("import: 429 over 100 a minute by business and address", async () => {
  const id = await fresh()
  const answers = await Promise.all(Array.from({ length: 101 }, () => confirm(owner, id, "x")))
  expect(answers.filter(({ status }) => status === 404).length).toBe(100)
  const answer = answers.find(({ status }) => status === 429)
  expect(answer).toMatchObject(refused(429, "rate_limited"))
  expect(Number(answer?.headers.get("retry-after"))).toBeGreaterThan(0)
})
