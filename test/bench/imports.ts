/**
 * How long an import of 1,000 items takes, preview and confirm, over HTTP with the program and its own database: the
 * aim is under 300 ms each. A bare insert of the same rows is beside it.
 *
 *   npm run bench imports [rounds]
 */
import { embedded } from "#sql/Embedded.ts"
import { Effect } from "effect"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { signUp } from "../support/account.ts"
import { newBusiness } from "../support/business.ts"
import { type Answer, freshAddress, send, type Sent } from "../support/http.ts"
import { confirm, upload } from "../support/imports.ts"
import { runSql } from "../support/sql.ts"
import { startProgram } from "./support/program.ts"

const rounds = Number(process.argv[2] ?? "20")
const aim = 300

const description = "Roasted tomatoes, basil and cream, with bread from the oven next door"
const item = (at: number) => ({ name: `Item ${at}`, description, price: at / 100, category: `Category ${at % 20}` })
const items = Array.from({ length: 1000 }, (_, at) => item(at))
const files = {
  "menu.csv": [
    "name,description,price,category",
    ...items.map((item) => `${item.name},"${item.description}",${item.price},${item.category}`)
  ].join("\r\n"),
  "menu.json": JSON.stringify({
    version: "1.0",
    business: { name: "Copper Ladle", description, vertical: "restaurant" },
    catalog_items: items
  })
}

const timed = async <A>(work: () => Promise<A>) => {
  const start = performance.now()
  const result = await work()
  return { result, took: performance.now() - start }
}
const at = (values: ReadonlyArray<number>, part: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!
const told = (name: string, values: ReadonlyArray<number>) => {
  const [half, most] = [at(values, 0.5), at(values, 0.95)]
  console.log(`${name}: p50 ${half.toFixed(0)} ms, p95 ${most.toFixed(0)} ms${most < aim ? "" : `, over ${aim}`}`)
}

const home = mkdtempSync(join(tmpdir(), "berth-bench-"))
const main = Effect.gen(function*() {
  const { database, host, port, user } = yield* embedded(home, { exclusive: false })
  const databaseUrl = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
  yield* Effect.promise(() => measure(databaseUrl))
})

const measure = async (databaseUrl: string) => {
  const { child: program, url } = await startProgram(home, databaseUrl)
  const request = <Body = unknown>(method: string, path: string, sent: Sent = {}): Promise<Answer<Body>> =>
    send<Body>(url, method, path, { ...sent, headers: { "x-forwarded-for": freshAddress(), ...sent.headers } })
  const owner = await signUp({ databaseUrl, request }, "enterprise")
  for (const [name, content] of Object.entries(files)) {
    const previews: Array<number> = []
    const confirms: Array<number> = []
    for (let round = 0; round <= rounds; round++) {
      const { id } = await newBusiness(owner)
      const shown = await timed(() => upload(owner, id, name, content))
      if (shown.result.body.data.record_count !== 1000) throw new Error(shown.result.text)
      const done = await timed(() => confirm(owner, id, shown.result.body.data.preview_id))
      if (done.result.body.data.created_items !== 1000) throw new Error(done.result.text)
      // The first is for the compiler.
      if (round === 0) continue
      previews.push(shown.took)
      confirms.push(done.took)
    }
    told(`${name}, preview of 1,000 items (${(Buffer.byteLength(content) / 1024).toFixed(0)} KiB)`, previews)
    told(`${name}, confirm`, confirms)
  }
  const { id } = await newBusiness(owner)
  const bare: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const insert = `INSERT INTO catalog_items (id, business_id, name, description, item_type, price_cents, price_type,
      sort_order) SELECT md5(random()::text), $1, 'Item ' || n, $2, 'product', n, 'fixed', n
      FROM generate_series(1, 1000) AS n`
    bare.push((await timed(() => runSql(databaseUrl, insert, [id, description]))).took)
  }
  told("the bare insert of 1,000 items, connecting included", bare)
  program.kill("SIGTERM")
  await once(program, "exit")
}

await Effect.runPromise(Effect.scoped(main)).finally(() => rmSync(home, { recursive: true, force: true }))
