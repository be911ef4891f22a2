/**
 * How often a search has what a person expects among its first three results, by kind of question; and again after a
 * thousand listings that were made to spoil it. Questions with one answer that a person knows are asked at the agents' door.
 *
 *   npm run bench recall [listings [questions of each kind]]
 */
import { embedded } from "#sql/Embedded.ts"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import pg from "pg"
import { type Listed, type Question, questionsOf } from "../directory/questions/questions.ts"
import { settle } from "../directory/questions/settle.ts"
import { asked } from "../directory/questions/town.ts"
import { load } from "./directory/data.ts"
import { startProgram } from "./support/program.ts"

const listings = Number(process.argv[2] ?? "20000")
const each = Number(process.argv[3] ?? "40")

/** Names made of what many searches have in them. */
const spoil = (pool: pg.Pool) =>
  pool.query(
    `WITH words AS (SELECT ARRAY['near', 'me', 'open', 'now', 'best', 'delivery', 'menu', 'reviews', 'the', 'and', 'of', 'quux',
         'pizza', 'coffee', 'restaurant', 'bank', 'hotel', 'shop', 'house', 'city', 'cafe', 'clothes', 'fuel'] AS w),
       made AS (SELECT '01D' || lpad(upper(to_hex(n)), 23, '0') AS business, '01E' || lpad(upper(to_hex(n)), 23, '0') AS id,
         array_to_string(ARRAY(SELECT w[1 + floor(random() * 23)::int] FROM words, generate_series(1, 4 + n % 5)), ' ') AS name
         FROM generate_series(1, 1000) n),
       businesses AS (INSERT INTO businesses (id, project_id, name, slug, industry, template_type)
         SELECT business, 'bench', name, lower(business), 'custom', 'custom' FROM made)
     SELECT 1`
  ).then(() =>
    pool.query(
      `INSERT INTO listings (id, business_id, status, published_at, name, description, business_name, business_slug, industry,
         template_type, city, state, tier, verification_tier, relevance_score)
       SELECT '01E' || substr(id, 4), id, 'active', now(), name, '', name, slug, industry, template_type, '', '', 'basic', 3,
         1200 FROM businesses WHERE id LIKE '01D%'`
    )
  )

const home = mkdtempSync(join(tmpdir(), "berth-bench-"))
const main = Effect.gen(function*() {
  execFileSync("npm", ["run", "--silent", "build"], { stdio: ["ignore", "ignore", "inherit"] })
  const { database, host, port, user } = yield* embedded(home, { exclusive: false })
  const url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
  const { child, port: at } = yield* Effect.promise(() => startProgram(home, url))
  yield* Effect.promise(async () => {
    const pool = new pg.Pool({ connectionString: url, max: 2 })
    await load(pool, listings)
    await settle(pool, "bench")
    const { rows } = await pool.query<Listed>(
      "SELECT name, city, state, categories FROM listings WHERE status = 'active' ORDER BY id"
    )
    const questions = questionsOf(rows, each)
    let address = 0
    const nextAddress = () => ({ "x-forwarded-for": `10.1.${++address >> 8 & 255}.${address & 255}` })
    const isMet = async ({ isExpected, search }: Question) => {
      const answer = await fetch(`http://127.0.0.1:${at}/v1/directory?${new URLSearchParams({ search, limit: "3" })}`, {
        headers: nextAddress()
      })
      return ((await answer.json()) as { readonly data: ReadonlyArray<Listed> }).data.some(isExpected)
    }
    const namesAtDoor = async (query: string) => {
      const call = { name: "search_businesses", arguments: { query, limit: 3 } }
      const answer = await fetch(`http://127.0.0.1:${at}/mcp/directory`, {
        method: "POST",
        headers: {
          ...nextAddress(),
          "content-type": "application/json",
          accept: "application/json, text/event-stream"
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call })
      })
      const { result } = (await answer.json()) as {
        readonly result: { readonly structuredContent: { readonly businesses: ReadonlyArray<Listed> } }
      }
      return result.structuredContent.businesses.map(({ name }) => name)
    }
    const settled = async (query: string, name: string, until = Date.now() + 120_000): Promise<void> => {
      if ((await namesAtDoor(query)).includes(name)) return
      if (Date.now() > until) throw new Error(`${name} is not found`)
      await setTimeout(500)
      return settled(query, name, until)
    }
    const shares = async () => {
      const met = new Map<string, Array<boolean>>()
      for (const question of questions) {
        const isFound = await isMet(question)
        met.set(question.kind, [...(met.get(question.kind) ?? []), isFound])
        if (!isFound && process.env["MISSED"] !== undefined) console.log(`missed: ${question.kind}: ${question.search}`)
      }
      const share = (all: ReadonlyArray<boolean>) => all.filter(Boolean).length / all.length
      return {
        byKind: new Map([...met].map(([kind, all]) => [kind, share(all)])),
        all: share([...met.values()].flat())
      }
    }
    await settled("ukulele seattle", "Puget Music")
    await settled("yoshinoya", "吉野家")
    console.log("| at the agents' door | found |\n|---|---|")
    for (const [kind, questions] of Object.entries(asked)) {
      let met = 0
      for (const [question, ...names] of questions) {
        if ((await namesAtDoor(question)).some((name) => names.includes(name))) met++
        else if (process.env["MISSED"] !== undefined) console.log(`missed: ${kind}: ${question}`)
      }
      console.log(`| ${kind} | ${met} of ${questions.length} |`)
    }
    console.log("")
    const before = await shares()
    await spoil(pool)
    const after = await shares()
    const percent = (value = 0) => `${(100 * value).toFixed(1)} %`
    console.log(
      `${questions.length} questions to ${rows.length} listings\n\n| kind | found | after 1,000 listings made to spoil it |`
    )
    console.log("|---|---|---|")
    for (const [kind, value] of before.byKind) {
      console.log(`| ${kind} | ${percent(value)} | ${percent(after.byKind.get(kind))} |`)
    }
    console.log(`| all | ${percent(before.all)} | ${percent(after.all)} |`)
    const ended = once(child, "exit")
    child.kill("SIGTERM")
    await ended
    await pool.end()
  })
})
await Effect.runPromise(Effect.scoped(main)).finally(() => rmSync(home, { recursive: true, force: true }))
