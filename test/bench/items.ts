/**
 * What it takes the database to find businesses by what they offer: each listing has eight items, of a few words of which some
 * are on every second menu and others on few. One session of the database; the aim is 20 ms.
 *
 *   npm run bench items [listings [requests a case]]
 */
import { clientLayer } from "#sql/Client.ts"
import { embedded } from "#sql/Embedded.ts"
import { MigrationsLive } from "#sql/Migrate.ts"
import { DirectoryCounts } from "#src/directory/DirectoryCounts.ts"
import { DirectoryMatches } from "#src/directory/DirectoryMatches.ts"
import { DirectoryRepo } from "#src/directory/DirectoryRepo.ts"
import { ItemMatches, type ItemSearch } from "#src/directory/ItemMatches.ts"
import { Effect, Layer, Logger, LogLevel, ManagedRuntime, Redacted } from "effect"
import { existsSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { load, zips } from "./directory/data.ts"
import { processorTime } from "./support/processor.ts"

const listings = Number(process.argv[2] ?? "100000")
const requests = Number(process.argv[3] ?? "100")

const kinds = "pizza soup salad burger taco curry cake pie tea coffee".split(" ")
const ways = "gluten-free,vegan,smoked,spicy,double,iced,grilled,house,fried,cold".split(",")
/** A thousand words, each on a menu in fifty. */
const rare = Array.from({ length: 1_000 }, (_, i) => `rare${i}`)

const addItems = async (pool: pg.Pool) => {
  await pool.query("SET statement_timeout = 0")
  await pool.query(
    `INSERT INTO catalog_items (id, business_id, name, description, item_type, price_cents, price_type, sort_order)
     SELECT upper(left(md5(b.id || n), 26)), b.id,
       concat_ws(' ', initcap(($1::text[])[1 + mod(abs(h), 10)]), initcap(($2::text[])[1 + mod(abs(h) / 10, 10)]),
         initcap(($3::text[])[1 + mod(abs(h) / 100, 1000)])),
       'With ' || ($2::text[])[1 + mod(abs(h) / 100000, 10)] || ' sauce', 'menu_item', 900, 'fixed', n
     FROM businesses b, generate_series(1, 8) n, LATERAL (SELECT hashtextextended(b.id, n) / 2 AS h) hashed`,
    [ways, kinds, rare]
  )
  await pool.query("VACUUM ANALYZE catalog_items")
}

const main = Effect.gen(function*() {
  const home = join(tmpdir(), `berth-bench-items-${listings}`)
  const database = yield* embedded(home, {
    exclusive: false,
    settings: { shared_buffers: "4GB", max_wal_size: "8GB", statement_timeout: "0" }
  })
  const url = `postgres://${database.user}@localhost/${database.database}?host=${
    encodeURIComponent(database.host)
  }&port=${database.port}`
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  pool.on("error", () => undefined)
  // One connection: its process is the one that is measured.
  const client = clientLayer(Redacted.make(url), 1)
  const runtime = ManagedRuntime.make(
    ItemMatches.Default.pipe(
      Layer.provide(DirectoryMatches.Default),
      Layer.provide(Layer.provide(DirectoryRepo.Default, DirectoryCounts.Default)),
      Layer.provideMerge(Layer.provideMerge(MigrationsLive, client))
    )
  )
  const items = yield* Effect.promise(() => runtime.runPromise(ItemMatches))
  if (!existsSync(join(home, "loaded"))) yield* Effect.promise(() => load(pool, listings))
  writeFileSync(join(home, "loaded"), "")
  if (!existsSync(join(home, "items"))) {
    yield* Effect.promise(() => addItems(pool))
    const start = performance.now()
    yield* Effect.promise(() => runtime.runPromise(items.fold))
    const { rows: [size] } = yield* Effect.promise(() =>
      pool.query<{ words: string; size: string }>(
        `SELECT count(*) AS words, pg_size_pretty(pg_total_relation_size('catalog_words')) AS size FROM catalog_words`
      )
    )
    console.log(`indexed in ${((performance.now() - start) / 1000).toFixed(0)} s: ${size!.words} rows, ${size!.size}`)
    yield* Effect.promise(() => pool.query("VACUUM ANALYZE catalog_words"))
    writeFileSync(join(home, "items"), "")
  }
  const { rows: backends } = yield* Effect.promise(() =>
    pool.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
  )
  const time = () => backends.reduce((sum, { pid }) => sum + processorTime(pid), 0)
  const at = (i: number) => {
    const { city, state } = zips[(i * 7_919) % zips.length]!
    return `${city}, ${state}`
  }
  const cases: ReadonlyArray<readonly [string, (i: number) => ItemSearch]> = [
    ["one common word", (i) => ({ search: kinds[i % 10]! })],
    ["two common words", (i) => ({ search: `${ways[i % 10]} ${kinds[(i * 3) % 10]}` })],
    ["three words, one of them rare", (i) => ({ search: `${ways[i % 10]} ${kinds[(i * 3) % 10]} rare${i % 1000}` })],
    ["two rare words", (i) => ({ search: `rare${i % 1000} rare${(i * 17) % 1000}` })],
    ["a word that nobody has", (i) => ({ search: `nothing${i} ${kinds[i % 10]}` })],
    ["two common words in a city", (i) => ({ search: `${ways[i % 10]} ${kinds[(i * 3) % 10]}`, location: at(i) })],
    [
      "one common word in a state",
      (i) => ({ search: kinds[i % 10]!, location: zips[(i * 7_919) % zips.length]!.state })
    ],
    ["two common words at a price that all have", (i) => ({
      search: `${ways[i % 10]} ${kinds[(i * 3) % 10]}`,
      mostCents: 900
    })],
    ["two common words at a price that nobody has", (i) => ({
      search: `${ways[i % 10]} ${kinds[(i * 3) % 10]}`,
      mostCents: 899
    })],
    ["two common words in a category", (i) => ({ search: `${ways[i % 10]} ${kinds[(i * 3) % 10]}`, category: "cafe" })]
  ]
  console.log(`${listings} listings, ${requests} requests a case; ms`)
  console.log("| | found | p50 / p95 | processor time of the database |\n|---|---|---|---|")
  for (const [name, question] of cases) {
    yield* Effect.promise(async () => {
      const ask = (i: number) => runtime.runPromise(items.find(question(i), 11))
      for (let i = 0; i < 10; i++) await ask(i)
      const before = time()
      const took: Array<number> = []
      let found = 0
      for (let i = 0; i < requests; i++) {
        const start = performance.now()
        found += (await ask(i)).length
        took.push(performance.now() - start)
      }
      const each = (time() - before) / requests
      took.sort((a, b) => a - b)
      const of = (share: number) => (took[Math.floor(requests * share)] ?? 0).toFixed(1)
      console.log(`| ${name} | ${(found / requests).toFixed(1)} | ${of(0.5)} / ${of(0.95)} | ${each.toFixed(2)} |`)
    })
  }
  yield* Effect.promise(async () => {
    await runtime.dispose()
    await pool.end()
  })
})

await Effect.runPromise(Effect.scoped(main).pipe(Logger.withMinimumLogLevel(LogLevel.Warning)))
