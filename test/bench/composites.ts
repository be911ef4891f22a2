/**
 * How long composites take to compute (the dynamic query, browse, SKILL.md), with 1 and with 8 clients; beside it the bare
 * SQL of the same questions through `pg`.
 *
 *   [BROAD=members] npm run bench composites [listings [requests a case [part of a case's name]]]
 *
 * BROAD: labels of so many members are counted by themselves, in place of the usual.
 */
import { clientLayer } from "#sql/Client.ts"
import { embedded } from "#sql/Embedded.ts"
import { MigrationsLive } from "#sql/Migrate.ts"
import { prepareMarked } from "#sql/prepare.ts"
import { type AccountId, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Quotas } from "#src/accounts/Quotas.ts"
import { BroadLabels } from "#src/composites/BroadLabels.ts"
import { BrowseComposites } from "#src/composites/BrowseComposites.ts"
import { CompositeMembers } from "#src/composites/CompositeMembers.ts"
import { Composites } from "#src/composites/Composites.ts"
import { CompositeSkills } from "#src/composites/CompositeSkills.ts"
import { CompositesRepo } from "#src/composites/CompositesRepo.ts"
import { DynamicComposites } from "#src/composites/DynamicComposites.ts"
import { GroupsRepo } from "#src/composites/GroupsRepo.ts"
import { MembersRepo } from "#src/composites/MembersRepo.ts"
import { SystemComposites } from "#src/composites/SystemComposites.ts"
import { DirectoryCounts } from "#src/directory/DirectoryCounts.ts"
import { DirectoryMatches } from "#src/directory/DirectoryMatches.ts"
import { DirectoryRepo } from "#src/directory/DirectoryRepo.ts"
import { HubKeysLive } from "#src/hub/Live.ts"
import { withTransformer } from "@effect/sql/Statement"
import { Effect, Layer, Logger, LogLevel, ManagedRuntime, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, writeFileSync } from "node:fs"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { settingsTest } from "../support/Settings.ts"
import { hubKeys } from "./composites/keys.ts"
import { type Case, cases } from "./composites/questions.ts"
import { load } from "./directory/data.ts"
import { benchClient } from "./support/client.ts"
import { processorTime } from "./support/processor.ts"
import { startProgram } from "./support/program.ts"
import { readBy } from "./support/read.ts"
import { warm } from "./support/warm.ts"

const listings = Number(process.argv[2] ?? "100000")
const requests = Number(process.argv[3] ?? "200")
const only = process.argv[4]
const broad = process.env["BROAD"]
/** Requests before the first case is measured. */
const warmUp = 6_000
/** Plans that are looked at of each case. */
const mostPlans = 20

interface Statement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

const { close, get } = benchClient(16)

/** Runs everything with so many at once; how long each took, in order. */
const timed = async <A>(all: ReadonlyArray<A>, clients: number, run: (one: A, client: number) => Promise<unknown>) => {
  const times: Array<number> = []
  let at = 0
  await Promise.all(Array.from({ length: clients }, async (_, client) => {
    while (at < all.length) {
      const one = all[at++]!
      const start = performance.now()
      await run(one, client)
      times.push(performance.now() - start)
    }
  }))
  return times.sort((a, b) => a - b)
}
const at = (times: ReadonlyArray<number>, share: number) => times[Math.floor(times.length * share)] ?? 0
const pair = (times: ReadonlyArray<number>) => `${at(times, 0.5).toFixed(1)} / ${at(times, 0.95).toFixed(1)}`

/** Of a developer with a hub key. */
const actor = {
  accountId: "bench" as AccountId,
  email: "bench@example.com",
  plan: "enterprise",
  credential: { kind: "hub", id: "bench", tier: "partner", usedToday: 1, resetAt: 0 }
} as const

const main = Effect.gen(function*() {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: ["ignore", "ignore", "inherit"] })
  // Kept for the next run: a million listings take minutes to load.
  const home = join(tmpdir(), `berth-bench-composites-${listings}`)
  const isThere = existsSync(join(home, "loaded"))
  const database = yield* embedded(home, {
    exclusive: false,
    settings: { shared_buffers: "4GB", max_wal_size: "8GB" }
  })
  const host = encodeURIComponent(database.host)
  const databaseUrl = `postgres://${database.user}@localhost/${database.database}?host=${host}&port=${database.port}`
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 8 })
  // When the run is broken off the database goes first.
  pool.on("error", () => undefined)
  pool.on("connect", prepareMarked)
  const reads = Layer.provideMerge(CompositeSkills.Default, Layer.merge(Composites.Default, BrowseComposites.Default))
  const layer = Layer.mergeAll(reads, DynamicComposites.Default, SystemComposites.Default).pipe(
    Layer.provide(HubKeysLive),
    Layer.provideMerge(CompositeMembers.Default),
    Layer.provideMerge(BroadLabels.Default),
    Layer.provideMerge(Layer.mergeAll(GroupsRepo.Default, MembersRepo.Default, CompositesRepo.Default, Quotas.Default)),
    Layer.provideMerge(DirectoryMatches.Default),
    Layer.provideMerge(DirectoryRepo.Default),
    Layer.provideMerge(DirectoryCounts.Default),
    Layer.provideMerge(settingsTest()),
    Layer.provideMerge(Layer.provideMerge(MigrationsLive, clientLayer(Redacted.make(databaseUrl), 8)))
  )
  const runtime = ManagedRuntime.make(layer)
  const { broadLabels, browse, composites, counts, groups, skills, system } = yield* Effect.promise(() =>
    runtime.runPromise(Effect.all({
      broadLabels: BroadLabels,
      browse: BrowseComposites,
      composites: DynamicComposites,
      counts: DirectoryCounts,
      groups: GroupsRepo,
      skills: CompositeSkills,
      system: SystemComposites
    }))
  )
  if (!isThere) {
    const start = performance.now()
    yield* Effect.promise(async () => {
      await load(pool, listings)
      await runtime.runPromise(counts.fold)
      await runtime.runPromise(groups.fold)
      const tables =
        "composite_groups, composite_steps, composite_entries, composite_marks, composite_totals, directory_counts"
      await pool.query(`VACUUM ANALYZE ${tables}, directory_place_counts, directory_word_counts`)
    })
    writeFileSync(join(home, "loaded"), "")
    console.log(`${listings} listings loaded in ${((performance.now() - start) / 1000).toFixed(0)} s`)
  }
  yield* Effect.promise(() => runtime.runPromise(broadLabels.choose(...(broad === undefined ? [] : [Number(broad)]))))
  yield* Effect.promise(() => runtime.runPromise(Effect.zipRight(system.make, browse.renew)))
  yield* Effect.promise(() => warm(pool))
  const program = yield* Effect.promise(() => startProgram(home, databaseUrl))

  /** The statements that a question comes to, as the driver is handed them. */
  const statementsOf = async (answer: Effect.Effect<unknown, unknown, CurrentActor>) => {
    const seen: Array<Statement> = []
    const answered = Effect.provideService(answer, CurrentActor, actor)
    await runtime.runPromise(withTransformer(answered, (statement) =>
      Effect.sync(() => {
        const [text, values] = statement.compile()
        seen.push({ text, values })
        return statement
      })))
    if (seen.length === 0) throw new Error("no statement was seen")
    return seen
  }

  yield* Effect.promise(async () => {
    const keys = await hubKeys(program.url, 8)
    const url = (question: Readonly<Record<string, string | number>>, path = "") =>
      `/v1/hub/composites${path}?${new URLSearchParams(
        Object.entries(question).map(([key, value]): [string, string] => [key, String(value)])
      )}`
    const stored = await pool.query<{ id: string }>("SELECT id FROM composites ORDER BY id")

    /** A path over HTTP, and the same question to the service. */
    interface Asked {
      readonly path: string
      readonly answer: Effect.Effect<unknown, unknown, CurrentActor>
    }
    const dynamic = ({ question }: Case) => (): Asked => {
      const asked = question()
      return { path: url(asked), answer: composites.query(asked) }
    }
    const browsed = (): Asked => ({ path: url({}, "/browse"), answer: browse.browse({}) })
    let next = 0
    const skill = (): Asked => {
      const { id } = stored.rows[next++ % stored.rows.length]!
      return { path: url({}, `/${id}/skill.md`), answer: skills.get(id) }
    }

    const row = async (name: string, ask: () => Asked) => {
      const asked = Array.from({ length: requests }, ask)
      const statements: Array<ReadonlyArray<Statement>> = []
      for (const { answer } of asked) statements.push(await statementsOf(answer))
      const bareOn = async (client: pg.ClientBase, all: ReadonlyArray<Statement>) => {
        for (const { text, values } of all) await client.query(text, [...values])
      }
      const bare = (all: ReadonlyArray<Statement>) =>
        pool.connect().then((client) => bareOn(client, all).finally(() => client.release()))
      const http = ({ path }: Asked, client: number) => get(program.port, path, keys[client])
      // What runs a few times only is not compiled yet, nor in memory.
      await timed(asked, 8, http)
      const programTime = processorTime(program.child.pid!)
      const http1 = await timed(asked, 1, http)
      const programEach = (processorTime(program.child.pid!) - programTime) / requests
      const held = await pool.connect()
      // Else the end of the database, when a run fails, hides what it failed by.
      held.on("error", () => undefined)
      const { rows: [backend] } = await held.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")
      const sqlTime = processorTime(backend!.pid)
      const sql1 = await timed(statements, 1, (all) => bareOn(held, all))
      const sqlEach = (processorTime(backend!.pid) - sqlTime) / requests
      const read = { rows: 0, pages: 0 }
      for (const { text, values } of statements.slice(0, mostPlans).flat()) {
        // A search asks for the plan of its own statement first.
        if (text.startsWith("EXPLAIN")) continue
        const { pages, rows } = await readBy(held, text, values)
        read.rows += rows / Math.min(mostPlans, requests)
        read.pages += pages / Math.min(mostPlans, requests)
      }
      held.release()
      const http8 = await timed(asked, 8, http)
      const sql8 = await timed(statements, 8, bare)
      const aim = listings > 100_000 ? 50 : 20
      const missed = at(http8, 0.95) > aim ? ` over ${aim}` : ""
      const time = `${programEach.toFixed(1)} + ${sqlEach.toFixed(2)}`
      const rowsAndPages = `${read.rows.toFixed(0)}, ${read.pages.toFixed(0)}`
      console.log(
        [`| ${name}`, pair(http1), pair(sql1), pair(http8) + missed, pair(sql8), time, `${rowsAndPages} |`].join(" | ")
      )
    }
    const rows = [
      ...cases.map((one) => [`query: ${one.name}`, dynamic(one)] as const),
      ["browse", browsed] as const,
      ...(stored.rows.length === 0 ? [] : [["SKILL.md", skill] as const])
    ]

    const { rows: [size] } = await pool.query<{ groups: string; marks: string }>(
      "SELECT (SELECT count(*) FROM composite_groups WHERE n > 0) AS groups, (SELECT count(*) FROM composite_marks) AS marks"
    )
    console.log(
      `${listings} listings, ${size?.groups} composites, ${requests} requests a case, load average ` +
        `${loadavg()[0]!.toFixed(1)}; ms, p50 / p95`
    )
    console.log(
      "| | HTTP, 1 client | SQL, 1 client | HTTP, 8 clients | SQL, 8 clients | processor: program + database " +
        "| database: rows, pages |"
    )
    console.log("|---|---|---|---|---|---|---|")
    const wanted = rows.filter(([name]) => only === undefined || name.includes(only))
    // A program's code is compiled when it has been used, whatever was asked.
    const usage = wanted.flatMap(([, ask]) => Array.from({ length: Math.ceil(warmUp / wanted.length) }, ask))
    await timed(usage, 8, ({ path }, client) => get(program.port, path, keys[client]))
    for (const [name, ask] of wanted) await row(name, ask)
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
