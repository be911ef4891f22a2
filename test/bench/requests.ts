/**
 * What a request costs one client after another: latency, and processor time of the program and of the database, which
 * hardly depend on what else the machine does. Beside them the bare SQL of the same page.
 *
 *   npm run bench requests [requests a round]
 */
import { embedded } from "#sql/Embedded.ts"
import { Effect } from "effect"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { load } from "./directory/data.ts"
import { benchClient } from "./support/client.ts"
import { startProgram } from "./support/program.ts"

const requests = Number(process.argv[2] ?? "1500")
const rounds = 3
const { close, get } = benchClient(1)

/** Microseconds of processor time that a process has used: /proc counts in hundredths of a second. */
const processorTime = (pid: number) => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const [user, system] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13).map(Number) as [number, number]
  return (user + system) * 10_000
}

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1]!

const measure = async (pid: number, one: () => Promise<unknown>) => {
  const all: Array<{ readonly latency: number; readonly cost: number }> = []
  for (let round = 0; round < rounds; round++) {
    const times: Array<number> = []
    const before = processorTime(pid)
    for (let at = 0; at < requests; at++) {
      const start = performance.now()
      await one()
      times.push(performance.now() - start)
    }
    all.push({ latency: median(times), cost: (processorTime(pid) - before) / requests })
  }
  return { latency: median(all.map(({ latency }) => latency)), cost: median(all.map(({ cost }) => cost)) }
}

const paths = {
  "a static document": "/.well-known/oauth-authorization-server",
  "one statement (/v1/health)": "/v1/health",
  "GET /v1/directory?limit=1": "/v1/directory?limit=1",
  "GET /v1/directory?limit=20": "/v1/directory?limit=20",
  "GET /v1/directory?city=chicago": "/v1/directory?city=chicago"
} as const

const home = mkdtempSync(join(tmpdir(), "berth-bench-"))
const main = Effect.gen(function*() {
  const { database, host, port, user } = yield* embedded(home, { exclusive: false })
  const url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
  const { child, port: at } = yield* Effect.promise(() => startProgram(home, url))
  yield* Effect.promise(async () => {
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    await load(pool, 2_000)
    const round = () => pool.query("SELECT 1")
    console.log("| | latency, ms | processor time of the program, µs |")
    console.log("|---|---|---|")
    const trip = await measure(process.pid, round)
    console.log(`| a round trip to the database, bare | ${trip.latency.toFixed(2)} | |`)
    for (const [name, path] of Object.entries(paths)) {
      // What runs a few times only is not compiled yet.
      for (let warm = 0; warm < 500; warm++) await get(at, path)
      const { cost, latency } = await measure(child.pid ?? 0, () => get(at, path))
      console.log(`| ${name} | ${latency.toFixed(2)} | ${cost.toFixed(0)} |`)
    }
    const ended = once(child, "exit")
    child.kill("SIGTERM")
    await ended
    await pool.end()
  })
})
await Effect.runPromise(Effect.scoped(main)).finally(() => rmSync(home, { recursive: true, force: true }))
close()
