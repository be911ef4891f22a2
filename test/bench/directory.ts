/**
 * How long the directory takes to answer, for each filter and combination, with 1 and with 8 clients; beside it the bare
 * SQL of the same questions through `pg`.
 *
 *   npm run bench directory [listings [requests a case]]
 */
import { clientLayer } from "#sql/Client.ts"
import { embedded } from "#sql/Embedded.ts"
import { MigrationsLive } from "#sql/Migrate.ts"
import { DirectoryCounts } from "#src/directory/DirectoryCounts.ts"
import { DirectoryQuery, filtersOf } from "#src/directory/DirectoryQuery.ts"
import { DirectoryRepo } from "#src/directory/DirectoryRepo.ts"
import { search } from "#src/directory/search.ts"
import { withTransformer } from "@effect/sql/Statement"
import { Effect, Layer, Logger, LogLevel, ManagedRuntime, Redacted, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { load } from "./directory/data.ts"
import { type Case, cases } from "./directory/questions.ts"
import { recall } from "./directory/recall.ts"
import { benchClient } from "./support/client.ts"
import { startProgram } from "./support/program.ts"
import { warm } from "./support/warm.ts"

const listings = Number(process.argv[2] ?? "100000")
const requests = Number(process.argv[3] ?? "200")
const only = process.argv[4]

interface Statement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

const { close, get } = benchClient(16)

/** Runs everything with so many at once; how long each took, in order. */
const timed = async <A>(all: ReadonlyArray<A>, clients: number, run: (one: A) => Promise<unknown>) => {
  const times: Array<number> = []
  let at = 0
  await Promise.all(Array.from({ length: clients }, async () => {
    while (at < all.length) {
      const one = all[at++]!
      const start = performance.now()
      await run(one)
      times.push(performance.now() - start)
    }
  }))
  return times.sort((a, b) => a - b)
}
const at = (times: ReadonlyArray<number>, share: number) => times[Math.floor(times.length * share)] ?? 0

const main = Effect.gen(function*() {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: ["ignore", "ignore", "inherit"] })
  // Kept for the next run: a million listings take minutes to load.
  const home = join(tmpdir(), `berth-bench-directory-${listings}`)
  const isThere = existsSync(join(home, "loaded"))
  const database = yield* embedded(home, {
    exclusive: false,
    settings: { shared_buffers: "4GB", max_wal_size: "8GB" }
  })
  const host = encodeURIComponent(database.host)
  const url = `postgres://${database.user}@localhost/${database.database}?host=${host}&port=${database.port}`
  const pool = new pg.Pool({ connectionString: url, max: 8 })
  // When the run is broken off the database goes first.
  pool.on("error", () => undefined)
  const layer = DirectoryRepo.Default.pipe(
    Layer.provideMerge(DirectoryCounts.Default),
    Layer.provideMerge(Layer.provideMerge(MigrationsLive, clientLayer(Redacted.make(url), 8)))
  )
  const runtime = ManagedRuntime.make(layer)
  const repo = yield* Effect.promise(() => runtime.runPromise(DirectoryRepo))
  if (!isThere) {
    const start = performance.now()
    yield* Effect.promise(() => load(pool, listings))
    yield* Effect.promise(() => runtime.runPromise(Effect.flatMap(DirectoryCounts, ({ fold }) => fold)))
    yield* Effect.promise(() =>
      pool.query("VACUUM ANALYZE directory_counts, directory_place_counts, directory_word_counts")
    )
    yield* Effect.promise(async () => (await import("node:fs/promises")).writeFile(join(home, "loaded"), ""))
    console.log(`${listings} listings loaded in ${((performance.now() - start) / 1000).toFixed(0)} s`)
  }
  yield* Effect.promise(() => warm(pool))
  const program = yield* Effect.promise(() => startProgram(home, url))

  /** The statements that a question comes to, as the driver is handed them. */
  const statementsOf = async (path: string) => {
    const seen: Array<Statement> = []
    const query = Schema.decodeUnknownSync(DirectoryQuery)(Object.fromEntries(new URLSearchParams(path.slice(14))))
    const found = Effect.flatMap(
      filtersOf(query),
      (filters) => search(repo, filters, { after: undefined, count: 21 })
    )
    await runtime.runPromise(withTransformer(found, (statement) =>
      Effect.sync(() => {
        const [text, values] = statement.compile()
        seen.push({ text, values })
        return statement
      })))
    if (seen.length === 0) throw new Error(`no statement was seen for ${path}`)
    return seen
  }

  const row = async ({ aim, name, question }: Case) => {
    const paths = Array.from(
      { length: requests },
      () =>
        `/v1/directory?${new URLSearchParams(
          Object.entries(question()).map(([key, value]): [string, string] => [key, String(value)])
        )}`
    )
    const statements: Array<ReadonlyArray<Statement>> = []
    for (const path of paths) statements.push(await statementsOf(path))
    const bare = async (all: ReadonlyArray<Statement>) => {
      const client = await pool.connect()
      for (const { text, values } of all) await client.query(text, [...values])
      client.release()
    }
    const http1 = await timed(paths, 1, (path) => get(program.port, path))
    const sql1 = await timed(statements, 1, bare)
    const http8 = await timed(paths, 8, (path) => get(program.port, path))
    const sql8 = await timed(statements, 8, bare)
    const pair = (times: ReadonlyArray<number>) => `${at(times, 0.5).toFixed(1)} / ${at(times, 0.95).toFixed(1)}`
    const ratio = (a: ReadonlyArray<number>, b: ReadonlyArray<number>) => `× ${(at(a, 0.5) / at(b, 0.5)).toFixed(1)}`
    const missed = at(http8, 0.95) > aim ? ` over ${aim}` : ""
    console.log(
      `| ${name} | ${pair(http1)} | ${pair(sql1)} | ${(at(http1, 0.5) - at(sql1, 0.5)).toFixed(1)} | ${
        pair(http8)
      }${missed} | ` +
        `${pair(sql8)} | ${ratio(http8, sql8)} |`
    )
    if (process.env["SLOWEST"] !== undefined) {
      const slow = [...paths.keys()]
      const each = await Promise.all(slow.map(() => 0))
      for (const i of slow) {
        const start = performance.now()
        await bare(statements[i]!)
        each[i] = performance.now() - start
      }
      const order = slow.sort((a, b) => each[b]! - each[a]!).slice(0, 3)
      for (const i of order) console.log(`  ${each[i]!.toFixed(1)} ms ${decodeURIComponent(paths[i]!)}`)
    }
  }

  console.log(
    `${listings} listings, ${requests} requests a case, load average ${loadavg()[0]!.toFixed(1)}; ms, p50 / p95`
  )
  console.log(
    "| filters | HTTP, 1 client | SQL, 1 client | HTTP adds | HTTP, 8 clients | SQL, 8 clients | HTTP of SQL |"
  )
  console.log("|---|---|---|---|---|---|---|")
  yield* Effect.promise(async () => {
    // What runs a few times only is not compiled yet, nor in memory.
    await timed(Array.from({ length: 500 }), 8, () => get(program.port, "/v1/directory?city=chicago"))
    for (const one of cases) if (only === undefined || one.name.includes(only)) await row(one)
    const found = await recall((path) => get(program.port, path), 400)
    console.log(
      `among the first 20, of 400 brands: ${found.written} as they are written, ${found.mistyped} with one typo`
    )
  })

  const ended = once(program.child, "exit")
  program.child.kill("SIGTERM")
  yield* Effect.promise(async () => {
    await ended
    await runtime.dispose()
    await pool.end()
  })
})

await Effect.runPromise(Effect.scoped(main).pipe(Logger.withMinimumLogLevel(LogLevel.Warning)))
close()
