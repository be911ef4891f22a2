import { clientLayer } from "#sql/Client.ts"
import { DirectoryCounts } from "#src/directory/DirectoryCounts.ts"
import { Effect, Exit, FastCheck, Layer, Redacted } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { full, itLong, sampled } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { answerTo, type Question } from "./model.ts"
import { categories, seeds, store } from "./seeds.ts"

const berth = useBerth()

const withCounts = <A>(use: (counts: DirectoryCounts) => Effect.Effect<A>) =>
  Effect.flatMap(DirectoryCounts, use).pipe(
    Effect.provide(Layer.provide(DirectoryCounts.Default, clientLayer(Redacted.make(berth.databaseUrl), 1))),
    Effect.runPromise
  )

const fold = () => withCounts((counts) => counts.fold)

const all = seeds(400)

beforeAll(async () => {
  await store(berth.databaseUrl, await berth.signUp("enterprise"), all)
})

interface Listed {
  readonly id: string
  readonly distanceMiles?: number
}
interface Page {
  readonly data: ReadonlyArray<Listed>
  readonly meta: { readonly cursor: string | null; readonly hasMore: boolean; readonly total: number }
}

const ask = async (question: Question) => {
  const query = new URLSearchParams(
    Object.entries(question).map(([name, value]): [string, string] => [name, String(value)])
  )
  const answer = await berth.request<Page>("GET", `/v1/directory?${query}`)
  expect([answer.status, answer.text], JSON.stringify(question)).toEqual([200, answer.text])
  return answer.body
}

/** Every page of a list, one after the other. */
const askAll = async (question: Question, limit: number) => {
  const pages: Array<Page> = []
  let cursor: string | null = null
  do {
    const page: Page = await ask({ ...question, limit, ...(cursor === null ? {} : { cursor }) })
    pages.push(page)
    cursor = page.meta.cursor
    expect(page.meta.hasMore).toBe(cursor !== null)
    expect(page.data.length).toBe(cursor === null ? page.data.length : limit)
  } while (cursor !== null)
  return pages
}

const values: Readonly<Record<string, ReadonlyArray<Question>>> = {
  search: [
    "pizza",
    "coper",
    "copper ladle",
    "ladle copper",
    "resturant",
    "resteraunt",
    "CAFE",
    "gard",
    "pizza zzzzqq",
    "copperladle",
    "joe's",
    "!!!",
    "x",
    "bnak",
    "김밥천국",
    "김밥국천",
    "곰탕집",
    "東京",
    "김",
    "김밥 천국",
    "천국",
    "ラーメン",
    "メン",
    "c",
    "the copper near me",
    "the best of",
    "copper & ladle",
    "pizza chicago",
    "chicago il",
    "coffee pizza hair zzzz",
    "st kitchen",
    "saint 7 street",
    "copper ladle kitchen garden royal bank"
  ].map((search) => ({ search })),
  category: [...categories, "none", "PIZZA"].map((category) => ({ category })),
  location: ["chi", "IL", "il", "spring", "100%", "_", "\\", "i", "Fiji", "zz"].map((location) => ({ location })),
  templateType: ["restaurant", "barber", "salon", "custom", "none"].map((templateType) => ({ templateType })),
  city: ["chicago", "SPRINGFIELD", "100%_town", "none"].map((city) => ({ city })),
  circle: [[41.88, -87.63, 5], [41.88, -87.63, 60], [-17, 179.9, 200], [38, -90, 500], [0, 0, 0], [89.9, 0, 10], [
    0,
    0,
    7000
  ], [10, 10, 20_000]]
    .map(([lat = 0, lng = 0, miles = 0]) => ({ lat, lng, radius_miles: miles })),
  min_verification: ["phone_verified", "business_verified", "premium_verified"]
    .map((level) => ({ min_verification: level }))
}
const names = Object.keys(values)

interface Value {
  readonly value: string
  readonly count: number
}
interface Counts {
  readonly total: number
  readonly categories: ReadonlyArray<Value>
  readonly kinds: ReadonlyArray<Value>
  readonly cities: ReadonlyArray<{ readonly city: string; readonly state: string; readonly count: number }>
}
/** How often each text is there, the most frequent first. */
const tally = (texts: ReadonlyArray<string>) =>
  [...new Set(texts)].map((value) => [value, texts.filter((text) => text === value).length] as const)
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
const sorted = ({ categories, cities, kinds }: Counts) => [
  ...[categories, kinds].map((counted) =>
    tally(counted.flatMap(({ count, value }) => Array<string>(count).fill(value)))
  ),
  tally(cities.flatMap(({ city, count, state }) => Array<string>(count).fill(`${city}, ${state}`.toLowerCase())))
]
const countsOf = (question: Question) => {
  const found = new Set(answerTo(all, question))
  const seeds = all.filter(({ id }) => found.has(id))
  return [
    tally(seeds.flatMap((seed) => seed.categories)),
    tally(seeds.flatMap(({ industry, templateType }) => [...new Set([templateType, industry])])),
    tally(seeds.filter(({ city }) => city !== "").map(({ city, state }) => `${city}, ${state}`.toLowerCase()))
  ]
}

describe("a search answers as a plain look at every listing would", () => {
  it("without a filter, and with each", async () => {
    expect((await askAll({}, 100)).flatMap(({ data }) => data.map(({ id }) => id))).toEqual(answerTo(all, {}))
    for (const question of Object.values(values).flat()) {
      const expected = answerTo(all, question)
      const { data, meta } = await ask({ ...question, limit: 100 })
      expect([meta.total, data.map(({ id }) => id)], JSON.stringify(question)).toEqual([
        expected.length,
        expected.slice(0, 100)
      ])
    }
  }, 60_000)

  it("with every pair of filters", async () => {
    let found = 0
    for (const [at, first] of names.entries()) {
      for (const second of sampled(names.slice(at + 1), 3, at)) {
        for (const a of values[first]!) {
          const b = values[second]![(at + values[first]!.indexOf(a)) % values[second]!.length]!
          const question = { ...a, ...b }
          const expected = answerTo(all, question)
          const { data, meta } = await ask({ ...question, limit: 100 })
          expect([meta.total, data.map(({ id }) => id)], JSON.stringify(question)).toEqual([
            expected.length,
            expected.slice(0, 100)
          ])
          found += Math.min(1, expected.length)
        }
      }
    }
    expect(found).toBeGreaterThan(full ? 50 : 20)
  }, 60_000)

  itLong("with any of them together, page by page, each listing once", async () => {
    const question = FastCheck.subarray(names).chain((chosen) =>
      FastCheck.tuple(...chosen.map((name) => FastCheck.constantFrom(...values[name]!)))
        .map((parts) => Object.assign({}, ...parts) as Question)
    )
    await FastCheck.assert(
      FastCheck.asyncProperty(question, FastCheck.integer({ min: 7, max: 100 }), async (asked, limit) => {
        const pages = await askAll(asked, limit)
        const expected = answerTo(all, asked)
        expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(expected)
        for (const { meta } of pages) expect(meta.total).toBe(expected.length)
      }),
      { numRuns: 120 }
    )
  }, 120_000)

  it("page by page for words, common ones and beginnings too", async () => {
    for (const search of ["pizza", "c", "cop", "the pizza", "coffee pizza", "chicago pizza hair", "best golden"]) {
      const ids = (await askAll({ search }, 9)).flatMap(({ data }) => data.map(({ id }) => id))
      expect(ids, search).toEqual(answerTo(all, { search }))
    }
  })

  it("and counts the categories, kinds and cities of what it finds, alone and with another filter", async () => {
    const pairs = names.flatMap((name, at) =>
      values[name]!.map((value, i) => ({ ...value, ...values[names[(at + 1) % names.length]!]![i % 3] }))
    )
    for (const question of [{}, ...Object.values(values).flat(), ...pairs]) {
      const query = new URLSearchParams(
        Object.entries(question).map(([name, value]): [string, string] => [name, String(value)])
      )
      const { data } = (await berth.request<{ readonly data: Counts }>("GET", `/v1/directory/facets?${query}`)).body
      expect([data.total, sorted(data)], String(query)).toEqual([answerTo(all, question).length, countsOf(question)])
    }
  }, 60_000)

  it("and tells how far away what it finds is, in a circle only", async () => {
    const { data } = await ask({ lat: 41.88, lng: -87.63, radius_miles: 60 })
    for (const { distanceMiles } of data) expect(distanceMiles).toSatisfy((miles: number) => miles >= 0 && miles <= 60)
    expect((await ask({ city: "Chicago" })).data[0]).not.toHaveProperty("distanceMiles")
  })

  itLong("after changes, while the counts are folded, and when the database has statistics, too", async () => {
    const changed = all.map((seed, i) =>
      i % 3 === 0 ? { ...seed, active: !seed.active, tier: 3 - seed.tier, city: "Suva", categories: ["Pizza"] } : seed
    )
    const answersTheSame = async () => {
      for (const question of [{}, ...Object.values(values).flat()]) {
        expect((await ask(question)).meta.total, JSON.stringify(question)).toEqual(answerTo(changed, question).length)
      }
    }
    await runSql(
      berth.databaseUrl,
      `UPDATE listings SET status = CASE WHEN active THEN 'active' ELSE 'pending' END, verification_tier = g.tier,
         city = g.city, categories = ARRAY(SELECT json_array_elements_text(g.categories))
       FROM json_to_recordset($1) AS g(id text, active boolean, tier int, city text, categories json)
       WHERE listings.id = g.id`,
      [JSON.stringify(changed)]
    )
    await answersTheSame()
    await Promise.all([fold(), answersTheSame(), fold()])
    expect(await runSql(berth.databaseUrl, "SELECT FROM directory_counts WHERE folded IS NULL")).toEqual([])
    expect(await runSql(berth.databaseUrl, "SELECT FROM directory_place_counts WHERE NOT is_folded")).toEqual([])
    await runSql(berth.databaseUrl, "ANALYZE directory_entries")
    await answersTheSame()
  }, 60_000)
})

describe("a search by words", () => {
  const total = async (search: string, others: Question = {}) => (await ask({ search, ...others })).meta.total
  const rename = (names: Readonly<Record<string, string>>) =>
    runSql(
      berth.databaseUrl,
      `UPDATE listings SET status = 'active', city = 'Suva', name = g.name
       FROM json_each_text($1) AS g(id, name) WHERE listings.id = g.id`,
      [JSON.stringify(names)]
    )
  const ids = all.map(({ id }) => id)

  it("finds all that begin with it, however many words that are", async () => {
    const letters = [..."abcdefghijklmnopqrstuvwxyz"]
    const words = letters.flatMap((a) => ["a", "o"].map((b) => `quorr${b}${a}`))
    // The last has two of them.
    const names = Object.fromEntries(words.map((word, i) => [ids[i]!, i === 51 ? `${word} quorraa` : `${word} tavern`]))
    await rename(names)
    expect(await total("quorr")).toBe(52)
    expect(await total("tavern quorr")).toBe(51)
    // "quorroa" is a typo away from the second.
    expect(await total("quorr quorra")).toBe(28)
    expect(await total("quorr", { city: "suva" })).toBe(52)
    expect(await total("quorr", { lat: -18, lng: 178, radius_miles: 12_500 })).toBe(
      (await ask({ search: "quorr", limit: 100, lat: -18, lng: 178, radius_miles: 12_500 })).data.length
    )
  })

  it("knows no words that no listing has any more", async () => {
    await rename({ [ids[0]!]: "Wintergreen Lodge", [ids[1]!]: "Xylophonic Lodgette" })
    const found = async () => (await ask({ search: "Wintergreen Lodgette Xylophonic" })).data.map(({ id }) => id)
    expect(await found()).toEqual([ids[1]])
    await rename({ [ids[1]!]: "Copper" })
    expect(await found()).toEqual([ids[0]])
    await fold()
    expect(await found()).toEqual([ids[0]])
    const dead = Array.from({ length: 220 }, (_, i) => `zorb${String.fromCharCode(97 + i % 26)}${i}`)
    await rename({ [ids[2]!]: dead.slice(0, 110).join(" "), [ids[3]!]: dead.slice(110).join(" ") })
    await rename({ [ids[2]!]: "Zorbzz", [ids[3]!]: "Copper" })
    expect(await total("zorb")).toBe(1)
  })

  it("divides names at whatever is no letter", async () => {
    await rename({ [ids[4]!]: "«Montmartre»", [ids[5]!]: "カフェ・ド・パリス", [ids[6]!]: "¡Olympo! ★Nachtcafé★" })
    expect(await total("montmartre")).toBe(1)
    expect(await total("パリス")).toBe(1)
    expect(await total("nachtcafe olympo")).toBe(1)
  })
})

it("a failure of the statistics is forgotten at once", async () => {
  const exits = await withCounts(({ approximateCount }) =>
    Effect.gen(function*() {
      const rename = (from: string, to: string) =>
        Effect.promise(() => runSql(berth.databaseUrl, `ALTER TABLE directory_counts RENAME ${from} TO ${to}`))
      yield* rename("tier", "level")
      const before = yield* Effect.exit(approximateCount())
      yield* rename("level", "tier")
      return [before, yield* Effect.exit(approximateCount())]
    })
  )
  expect(exits.map(Exit.isSuccess)).toEqual([false, true])
})
