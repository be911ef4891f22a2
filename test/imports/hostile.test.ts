import { type Reading } from "#src/imports/plan.ts"
import { Plan } from "#src/imports/plan.ts"
import { read } from "#src/imports/read.ts"
import { beforeAll, describe, expect, it } from "@effect/vitest"
import { Either, FastCheck as fc, Schema } from "effect"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { confirm, importOf, multipart, type Part, upload } from "../support/imports.ts"
import { full } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"

const bytes = (text: string, encoding: BufferEncoding = "utf8") => Buffer.from(text, encoding)
const odd = fc.constantFrom<unknown>(
  null,
  true,
  0,
  -1,
  8.99,
  1e308,
  1e21,
  1e-9,
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u202eabc",
  "x".repeat(300),
  "y".repeat(6000),
  "=cmd()",
  "8.99",
  "__proto__",
  [],
  [[]],
  {},
  { toString: 1 },
  "https://a",
  "http://a",
  "💡".repeat(90)
)
const value = fc.oneof(odd, fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: "binary" }))
const some = <T>(fields: Record<string, fc.Arbitrary<T>>) => fc.record(fields, { requiredKeys: [] })

const item = fc.oneof(
  {
    weight: 5,
    arbitrary: some({
      name: fc.oneof(fc.string({ minLength: 1 }), value),
      price: value,
      price_type: value,
      item_type: value,
      category: value,
      description: value,
      other: value
    })
  },
  { weight: 1, arbitrary: value }
)
const business = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      name: fc.oneof(fc.string({ minLength: 1 }), value),
      description: fc.oneof(fc.string({ minLength: 1 }), value),
      vertical: value,
      website: value,
      phone: value,
      location: fc.oneof(value, some({ city: value, state: value, zip: value })),
      custom_fields: fc.oneof(
        value,
        fc.dictionary(fc.oneof(fc.string(), fc.constant("__proto__")), value, { maxKeys: 25 })
      )
    }, { requiredKeys: ["name", "description"] })
  },
  { weight: 1, arbitrary: value }
)
const json = fc.record({
  version: fc.oneof({ weight: 9, arbitrary: fc.constant<unknown>("1.0") }, { weight: 1, arbitrary: value }),
  business,
  catalog_items: fc.oneof({ weight: 9, arbitrary: fc.array(item, { maxLength: 30 }) }, { weight: 1, arbitrary: value })
}, { requiredKeys: [] }).map((root) => JSON.stringify(root))

const cell = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "\"", "\"\"", "$1,234.50", "8,99", "-1", "menu_item", "x".repeat(300), "\u0000", "a\nb", "=1+1")
)
const header = fc.shuffledSubarray([
  "name",
  "Name ",
  "PRICE",
  "price",
  "price_type",
  "item type",
  "category",
  "description",
  "x",
  "",
  "\"name\""
])
const csv = fc.tuple(
  header,
  fc.array(fc.array(cell, { maxLength: 9 }), { maxLength: 30 }),
  fc.constantFrom(",", ";", "\t"),
  fc.constantFrom("\n", "\r\n", "\r"),
  fc.boolean()
)
  .map(([names, rows, delimiter, end, quoted]) =>
    [names, ...rows].map((cells) =>
      cells.map((cell) => quoted ? `"${cell.replaceAll("\"", "\"\"")}"` : cell).join(delimiter)
    ).join(end)
  )

const damaged = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.nat(), fc.nat(), fc.uint8Array({ maxLength: 4 })).map(([text, from, drop, extra]) => {
    const whole = bytes(text)
    const at = from % (whole.length + 1)
    return Buffer.concat([whole.subarray(0, at), extra, whole.subarray(at + drop % 20)])
  })
const encoded = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.constantFrom<BufferEncoding>("utf8", "utf16le", "latin1"), fc.boolean())
    .map(([text, encoding, mark]) => bytes(`${mark ? "\ufeff" : ""}${text}`, encoding))

/** Files odd in every way that was thought of, a name with each. */
const file = fc.oneof(
  fc.tuple(fc.constant("a.json"), fc.oneof(encoded(json), damaged(json))),
  fc.tuple(fc.constant("a.csv"), fc.oneof(encoded(csv), damaged(csv))),
  fc.tuple(
    fc.constantFrom("a.json", "a.csv"),
    fc.oneof(fc.uint8Array({ maxLength: 400 }), fc.json().map((text) => bytes(text)), encoded(csv), encoded(json))
  )
)

const isPlan = Schema.is(Plan)
const storable = (text: string) => text.isWellFormed() && !/\u0000/.test(text)

/** What every reading keeps, whatever it was of. */
const holds = (reading: Reading) => {
  const { plan, rows, warnings, warningsTotal } = reading
  expect(isPlan(plan)).toBe(true)
  expect(storable(JSON.stringify(plan)) && !JSON.stringify(plan).includes("\\u0000")).toBe(true)
  expect(plan.items.length).toBeLessThanOrEqual(Math.min(1000, rows))
  expect(warnings.length).toBeLessThanOrEqual(Math.min(1000, warningsTotal))
  expect(reading.format !== "csv" || plan.business === null).toBe(true)
  expect(Object.keys(plan.business?.customFields ?? {}).length).toBeLessThanOrEqual(20)
  for (const { category, description, name, priceCents } of plan.items) {
    expect(name === name.trim() && name !== "" && [...name].length <= 255 && !/\p{Cc}/u.test(name)).toBe(true)
    expect([...description].length).toBeLessThanOrEqual(5000)
    expect(category === null || category !== "" && [...category].length <= 255).toBe(true)
    expect(priceCents === null || Number.isInteger(priceCents) && priceCents >= 0 && priceCents < 2 ** 31).toBe(true)
  }
}

it("files, hostile and odd, are read, or refused with a reason", () => {
  let taken = 0
  fc.assert(
    fc.property(file, ([filename, content]) => {
      const result = read({ filename, bytes: content })
      if (Either.isLeft(result)) {
        expect(result.left).toMatchObject({ path: expect.any(String), message: expect.any(String) })
        return
      }
      taken++
      holds(result.right)
    }),
    { numRuns: full ? 2000 : 200, endOnFailure: true }
  )
  expect(taken).toBeGreaterThan(full ? 300 : 20)
})

describe("over HTTP", () => {
  const berth = useBerth()
  let owner: Account
  let businessId = ""

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    businessId = (await newBusiness(owner)).id
  })

  const counted = async () => {
    const [row] = await runSql(
      berth.databaseUrl,
      `SELECT (SELECT count(*)::int FROM catalog_items WHERE business_id = $1) AS items,
        (SELECT coalesce(sum(created_items), 0)::int FROM import_audit WHERE business_id = $1) AS told`,
      [businessId]
    )
    return row!
  }
  // Each from an address of its own, or the limit would be met.
  const fresh = () => ({
    request:
      ((method, path, sent) => berth.request(method, path, { token: owner.token, ...sent })) as Account["request"]
  })

  it("files are a preview or a 422, and each preview is confirmed whole", async () => {
    await fc.assert(
      fc.asyncProperty(file, async ([filename, content]) => {
        const sender = fresh()
        const shown = await upload(sender, businessId, filename, content)
        expect([200, 422]).toContain(shown.status)
        if (shown.status === 422) return
        const { preview_id, record_count } = shown.body.data
        const before = await counted()
        const done = await confirm(sender, businessId, preview_id)
        if (done.status === 422) {
          expect(await counted()).toEqual(before)
          return
        }
        expect([done.status, done.body.data.created_items]).toEqual([200, record_count])
        const after = await counted()
        expect(after).toEqual({ items: Number(before["items"]) + record_count, told: after["items"] })
      }),
      { numRuns: full ? 300 : 20, endOnFailure: true }
    )
  }, 120_000)

  const part: fc.Arbitrary<Part> = fc.record({
    name: fc.oneof({ weight: 3, arbitrary: fc.constant("file") }, {
      weight: 1,
      arbitrary: fc.string({ maxLength: 10 })
    }),
    filename: fc.oneof({ weight: 3, arbitrary: fc.constant("a.csv") }, {
      weight: 1,
      arbitrary: fc.string({ maxLength: 10 })
    }),
    type: fc.constantFrom("text/csv", "application/json", "x", "", "text/plain; charset=utf-7"),
    content: fc.oneof(fc.uint8Array({ maxLength: 50 }), fc.constant("name\nSoup\n"))
  }, { requiredKeys: ["content"] })

  it("odd uploads are a preview, 400 or 422", async () => {
    const body = fc.tuple(fc.array(part, { maxLength: 4 }), fc.nat(), fc.boolean(), fc.uint8Array({ maxLength: 5 }))
    await fc.assert(
      fc.asyncProperty(body, async ([parts, at, cut, extra]) => {
        const whole = multipart(parts)
        const place = at % (whole.body.length + 1)
        const content = cut ? Buffer.concat([whole.body.subarray(0, place), extra]) : whole.body
        const { status, text } = await fresh().request("POST", importOf(businessId), { ...whole, body: content })
        expect([[200, 400, 422].includes(status), status, text]).toEqual([true, status, text])
      }),
      { numRuns: full ? 200 : 20, endOnFailure: true }
    )
  }, 60_000)

  const raw = (contentType: string, body: string | Buffer) =>
    fresh().request<{ error: { code: string } }>("POST", importOf(businessId), {
      body: Buffer.from(body),
      headers: { "content-type": contentType, "content-length": String(Buffer.byteLength(body)) }
    })
  const one = (disposition: string, more = "") =>
    `--b\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\nname\nSoup\n\r\n--b--\r\n`

  it.each<[string, string, string, number]>([
    [
      "a name that is no percent-encoding",
      "multipart/form-data; boundary=b",
      one("name=\"file\"; filename*=UTF-8''%ff%.csv"),
      400
    ],
    ["no boundary", "multipart/form-data", one("name=\"file\"; filename=\"a.csv\""), 400],
    ["an empty boundary", "multipart/form-data; boundary=", one("name=\"file\"; filename=\"a.csv\""), 400],
    ["another boundary", "multipart/form-data; boundary=c", one("name=\"file\"; filename=\"a.csv\""), 400],
    [
      "no end",
      "multipart/form-data; boundary=b",
      one("name=\"file\"; filename=\"a.csv\"").replace("--b--\r\n", ""),
      400
    ],
    ["no name of a field", "multipart/form-data; boundary=b", one("filename=\"a.csv\""), 400],
    ["no disposition", "multipart/form-data; boundary=b", "--b\r\n\r\nname\nSoup\n\r\n--b--\r\n", 400],
    ["a header without end", "multipart/form-data; boundary=b", `--b\r\nX: ${"x".repeat(100_000)}`, 400],
    ["a million headers", "multipart/form-data; boundary=b", `--b\r\n${"X: x\r\n".repeat(100_000)}\r\n`, 400],
    [
      "a header named __proto__",
      "multipart/form-data; boundary=b",
      one("name=\"file\"; filename=\"a.csv\"", "__proto__: x\r\n"),
      200
    ],
    ["nothing", "multipart/form-data; boundary=b", "", 400],
    ["no part", "multipart/form-data; boundary=b", "--b--\r\n", 422],
    ["JSON", "application/json", "{}", 422],
    ["a form", "application/x-www-form-urlencoded", "file=x", 400]
  ])("an upload with %s is answered", async (_, type, body, status) => {
    const answer = await raw(type, body)
    expect([answer.status, answer.text]).toEqual([status, answer.text])
  })
})
