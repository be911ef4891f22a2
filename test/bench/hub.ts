/**
 * What the hub's reads take: analytics of 90 days at 9 million rows by listing, day and kind, pages of the skills
 * registry, and SKILL.md pages beside a bare server of static files; eight clients. Beside each the bare SQL of the same
 * question through `pg`.
 *
 *   npm run bench hub [listings [requests a case]]
 */
import { clientLayer } from "#sql/Client.ts"
import { embedded } from "#sql/Embedded.ts"
import { MigrationsLive } from "#sql/Migrate.ts"
import { CapabilityDocsRepo } from "#src/hub/CapabilityDocsRepo.ts"
import { ListingAnalyticsRepo } from "#src/hub/ListingAnalyticsRepo.ts"
import { ListingSkillsRepo } from "#src/hub/ListingSkillsRepo.ts"
import { withTransformer } from "@effect/sql/Statement"
import { Effect, Layer, Logger, LogLevel, ManagedRuntime, Redacted } from "effect"
import { once } from "node:events"
import { createReadStream, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import pg from "pg"
import { freePort } from "../support/http.ts"
import { load } from "./directory/data.ts"
import { benchClient } from "./support/client.ts"
import { startProgram } from "./support/program.ts"

const listings = Number(process.argv[2] ?? "20000")
const requests = Number(process.argv[3] ?? "2000")
const clients = 8

const { close, get } = benchClient(clients)

interface Measured {
  readonly p50: number
  readonly p95: number
  readonly aSecond: number
}

const measure = async <A>(all: ReadonlyArray<A>, run: (one: A) => Promise<unknown>): Promise<Measured> => {
  const times: Array<number> = []
  let at = 0
  const began = performance.now()
  await Promise.all(Array.from({ length: clients }, async () => {
    while (at < all.length) {
      const one = all[at++]!
      const start = performance.now()
      await run(one)
      times.push(performance.now() - start)
    }
  }))
  const seconds = (performance.now() - began) / 1000
  times.sort((a, b) => a - b)
  return { p50: times[times.length >> 1]!, p95: times[Math.floor(times.length * 0.95)]!, aSecond: all.length / seconds }
}

const shown = ({ aSecond, p50, p95 }: Measured) => `${p50.toFixed(1)} / ${p95.toFixed(1)}, ${aSecond.toFixed(0)}`

/**
 * Five kinds a day for 90 days; as many unmet searches as are ever kept; and the rows of a capability document for each
 * listing, without its bytes, which neither page reads.
 */
const fill = async (pool: pg.Pool) => {
  await load(pool, listings)
  await pool.query(`SET statement_timeout = 0; SET synchronous_commit = off;
    INSERT INTO listing_events (listing_id, day, kind, n)
      SELECT l.id, current_date - d, k, 1 + (random() * 100)::int FROM listings l, generate_series(0, 89) d,
        unnest('{view,click,search_impression,referral_click,transaction}'::text[]) k;
    INSERT INTO capability_blobs (key) SELECT id FROM listings;
    INSERT INTO capability_documents (listing_id, blob_key, format, digest, name, description, tools)
      SELECT id, id, 'skill_md', '', name, description, '[{"name":"order","description":"Orders something"}]' FROM listings;
    INSERT INTO unmet_searches (day, city, state, square, words, category, kind, verification, n)
      SELECT current_date - d, lower(l.city), lower(l.state), -1, 'search ' || i, '', lower(l.industry), 0, 1
      FROM generate_series(0, 89) d, generate_series(1, 5000) i
      JOIN (SELECT row_number() OVER () AS i, city, state, industry FROM listings LIMIT 5000) l USING (i)`)
  await pool.query("VACUUM ANALYZE listing_events")
  await pool.query("VACUUM ANALYZE unmet_searches")
  await pool.query("VACUUM ANALYZE capability_documents")
}

/** A server of files, with nothing else. */
const staticServer = async (file: string) => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/markdown; charset=utf-8", "content-length": statSync(file).size })
    createReadStream(file).pipe(response)
  })
  const port = await freePort()
  server.listen(port, "127.0.0.1")
  await once(server, "listening")
  return { server, port }
}

const main = Effect.gen(function*() {
  // Kept for the next run: nine million rows take minutes to load.
  const home = join(tmpdir(), `berth-bench-hub-${listings}`)
  const isThere = existsSync(join(home, "loaded"))
  const database = yield* embedded(home, {
    exclusive: false,
    settings: { shared_buffers: "512MB", max_wal_size: "8GB" }
  })
  const host = encodeURIComponent(database.host)
  const url = `postgres://${database.user}@localhost/${database.database}?host=${host}&port=${database.port}`
  const pool = new pg.Pool({ connectionString: url, max: clients })
  // When the run is broken off the database goes first.
  pool.on("error", () => undefined)
  const repos = Layer.mergeAll(ListingAnalyticsRepo.Default, ListingSkillsRepo.Default, CapabilityDocsRepo.Default)
  const layer = Layer.provideMerge(repos, Layer.provideMerge(MigrationsLive, clientLayer(Redacted.make(url), clients)))
  const runtime = ManagedRuntime.make(layer)
  const { analytics, documents, skills } = yield* Effect.promise(() =>
    runtime.runPromise(
      Effect.all({ analytics: ListingAnalyticsRepo, documents: CapabilityDocsRepo, skills: ListingSkillsRepo })
    )
  )
  if (!isThere) {
    const start = performance.now()
    yield* Effect.promise(() => fill(pool))
    writeFileSync(join(home, "loaded"), "")
    console.log(`loaded in ${((performance.now() - start) / 1000).toFixed(0)} s`)
  }
  const program = yield* Effect.promise(() => startProgram(home, url))

  /** The statement that a question comes to, as the driver is handed it. */
  const statementOf = async (question: Effect.Effect<unknown>) => {
    const seen: Array<readonly [string, ReadonlyArray<unknown>]> = []
    await runtime.runPromise(withTransformer(question, (statement) =>
      Effect.sync(() => {
        seen.push(statement.compile())
        return statement
      })))
    const [only] = seen
    if (only === undefined) throw new Error("no statement was seen")
    return only
  }

  yield* Effect.promise(async () => {
    const signUp = await fetch(`${program.url}/v1/auth/signup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: `bench-${Date.now()}@example.com`, password: "correct horse battery" })
    })
    const { data: { token, user } } = await signUp.json() as { data: { token: string; user: { id: string } } }
    await pool.query("UPDATE projects SET account_id = $1 WHERE id = 'bench'", [user.id])
    const active = await pool.query<{ id: string }>("SELECT id FROM listings WHERE status = 'active' ORDER BY random()")
    const ids = Array.from({ length: requests }, (_, at) => active.rows[at % active.rows.length]!.id)
    const { rows: [size] } = await pool.query<{ n: string }>("SELECT count(*) AS n FROM listing_events")
    const since = new Date(Date.now() - 89 * 86_400_000).toISOString().slice(0, 10)
    const bare = async (of: (id: string) => Effect.Effect<unknown>) => {
      const statements = []
      for (const id of ids) statements.push(await statementOf(of(id)))
      return measure(statements, ([statement, values]) => pool.query(statement, [...values]))
    }
    const path = (id: string) => `/api/v1/hub/analytics/listings/${id}`
    const skill = (id: string) => `/api/v1/hub/listings/${id}/skill.md`
    for (const id of ids.slice(0, 300)) {
      await get(program.port, skill(id))
      await get(program.port, `${path(id)}?period=90d`, token)
    }

    console.log(`${size?.n} rows of events, ${clients} clients; ms, p50 / p95, then how many a second`)
    console.log("| | HTTP | bare SQL | HTTP of SQL |")
    console.log("|---|---|---|---|")
    const row = (name: string, http: Measured, sql: Measured | undefined) =>
      console.log(
        `| ${name} | ${shown(http)} | ${sql === undefined ? "" : shown(sql)} | ${
          sql === undefined ? "" : `× ${(http.aSecond / sql.aSecond).toFixed(2)}`
        } |`
      )
    row(
      "analytics, 90 days",
      await measure(ids, (id) => get(program.port, `${path(id)}?period=90d`, token)),
      await bare((id) => analytics.since(id, since))
    )
    row(
      "by day, 90 days",
      await measure(ids, (id) => get(program.port, `${path(id)}/daily?period=90d`, token)),
      await bare((id) => analytics.daily(id, since))
    )
    row(
      "unmet searches, 90 days",
      await measure(
        ids.slice(0, requests / 5),
        (id) => get(program.port, `${path(id)}/unmet-searches?period=90d`, token)
      ),
      undefined
    )
    const page = join(mkdtempSync(join(tmpdir(), "berth-bench-")), "SKILL.md")
    writeFileSync(page, await get(program.port, skill(ids[0]!)))
    const files = await staticServer(page)
    const fromFiles = await measure(ids, () => get(files.port, "/SKILL.md"))
    files.server.close()
    rmSync(dirname(page), { recursive: true })
    const skillPages = await measure(ids, (id) => get(program.port, skill(id)))
    row("SKILL.md", skillPages, await bare((id) => skills.find(id)))
    row(
      "registry page of 50",
      await measure(ids, (id) => get(program.port, `/.well-known/mcp-skills?limit=50&cursor=${id}`)),
      await bare((after) => documents.entries({ after, count: 51, format: undefined, listingId: undefined }))
    )
    console.log(
      `SKILL.md of a bare static file server (${shown(fromFiles)}): × ${
        (skillPages.aSecond / fromFiles.aSecond).toFixed(2)
      }`
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
