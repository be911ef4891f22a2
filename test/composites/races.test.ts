import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Holder, type Listed } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { hubKey } from "../support/composites.ts"
import { runSql } from "../support/sql.ts"
import { chooseBroadLabels, delayBroadLabels, foldComposites, makeSystemComposites } from "./fold.ts"
import { idOf, type Seed } from "./model.ts"
import { change, seedOf, store } from "./seeds.ts"
import { wrongCounts, wrongLabels, wrongLabelSteps, wrongSteps } from "./wrong-counts.ts"

const berth = useBerth()
let owner: Account
let hub: Holder
beforeAll(async () => {
  await delayBroadLabels(berth.databaseUrl)
  owner = await berth.signUp("enterprise")
  hub = await hubKey(berth, owner, "partner")
})

interface Shown {
  readonly id: string
  readonly memberCount: number
  readonly avgHealthScore: number
}

const ask = async (query: string) => {
  const answer = await hub.get<Listed<Shown>>(`/v1/hub/composites?${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

const again = async (until: Promise<unknown>, work: () => Promise<unknown>) => {
  let done = false
  void until.finally(() => {
    done = true
  })
  while (!done) await work()
}

describe("composites while listings change", () => {
  it(
    "answer for one moment: listings that move between cities are in one of them, also while changes are counted",
    async () => {
      const movers = Array.from({ length: 12 }, () => seedOf({ industry: "juggler" }))
      await store(berth.databaseUrl, owner, movers)
      const moves = (async () => {
        for (let round = 0; round < 40; round++) {
          const city = (one: Seed, at: number) => ({ ...one, city: (at + round) % 3 === 0 ? "Austin" : "Dallas" })
          await change(berth.databaseUrl, movers.map(city))
        }
      })()
      await Promise.all([
        moves,
        again(moves, () => foldComposites(berth.databaseUrl)),
        again(moves, async () => {
          const { data } = await ask("vertical=juggler")
          expect(data.reduce((sum, { memberCount }) => sum + memberCount, 0)).toBe(12)
        })
      ])
      await foldComposites(berth.databaseUrl)
      expect(await wrongCounts(berth.databaseUrl)).toEqual([])
      expect(await wrongSteps(berth.databaseUrl)).toEqual([])
    },
    60_000
  )

  it("answer by tag and category for one moment: listings that get and lose them are counted once", async () => {
    const smiths = Array.from(
      { length: 12 },
      (_, at) => seedOf({ industry: "smith", city: at % 2 === 0 ? "Austin" : "Dallas" })
    )
    await store(berth.databaseUrl, owner, smiths)
    const labels = (one: Seed, at: number, round: number): Seed => ({
      ...one,
      tags: ["forge", (at + round) % 3 === 0 ? "anvil" : "bellows"],
      categories: [(at + round) % 2 === 0 ? "Iron" : "Silver"],
      health: 60 + round,
      city: round % 5 === 0 ? "Laredo" : one.city
    })
    const rounds = (async () => {
      for (let round = 0; round < 30; round++) {
        const half = (part: number) =>
          change(berth.databaseUrl, smiths.map((one, at) => labels(one, at, round)).filter((_, at) => at % 2 === part))
        await Promise.all([half(0), half(1)])
      }
    })()
    const count = async (query: string) => {
      const { data } = await ask(query)
      return data.reduce((sum, { memberCount }) => sum + memberCount, 0)
    }
    await Promise.all([
      rounds,
      again(rounds, () => foldComposites(berth.databaseUrl)),
      again(rounds, () => chooseBroadLabels(berth.databaseUrl, 3)),
      again(rounds, async () => {
        expect([0, 6, 12]).toContain(await count("tags=forge"))
        expect(await count("tags=anvil,bellows")).toBe(0)
      })
    ])
    const asked = () => Promise.all(["tags=forge", "tags=forge,anvil", "tags=anvil", "category=Iron"].map(count))
    const uncounted = await asked()
    await foldComposites(berth.databaseUrl)
    expect([uncounted, await asked()]).toEqual([[12, 4, 4, 6], [12, 4, 4, 6]])
    expect(await wrongCounts(berth.databaseUrl)).toEqual([])
    expect(await wrongSteps(berth.databaseUrl)).toEqual([])
    expect(await wrongLabels(berth.databaseUrl)).toEqual([])
    expect(await wrongLabelSteps(berth.databaseUrl)).toEqual([])
  }, 60_000)

  it("are counted once, whoever writes and counts at the same time", async () => {
    const cities = ["Waco", "Tyler", "Laredo", "El Paso"]
    const some = () =>
      cities.flatMap((city) => [seedOf({ city, industry: "potter" }), seedOf({ city, industry: "potter" })])
    const batches = [some(), some().reverse(), some(), some().reverse()]
    await Promise.all([
      ...batches.map((batch) => store(berth.databaseUrl, owner, batch)),
      ...batches.map(() => foldComposites(berth.databaseUrl))
    ])
    const changed = batches.map((batch) => batch.map((one, at) => ({ ...one, health: at % 2 === 0 ? 10 : 80 })))
    await Promise.all([
      ...changed.map((batch) => change(berth.databaseUrl, batch)),
      ...changed.map(() => foldComposites(berth.databaseUrl))
    ])
    const { data } = await ask("vertical=potter")
    expect(data.map(({ avgHealthScore, memberCount }) => ({ avgHealthScore, memberCount })))
      .toEqual(cities.map(() => ({ avgHealthScore: 80, memberCount: 4 })))
    await Promise.all([foldComposites(berth.databaseUrl), foldComposites(berth.databaseUrl)])
    expect(await wrongCounts(berth.databaseUrl)).toEqual([])
    expect(await wrongSteps(berth.databaseUrl)).toEqual([])
    expect(await wrongLabels(berth.databaseUrl)).toEqual([])
    const counted = await ask("vertical=potter")
    expect([counted.data.map(({ id }) => id), counted.meta.total]).toEqual([data.map(({ id }) => id), 4])
  })

  it("show each that stays as it is once, whatever comes and goes between the pages", async () => {
    const still = Array.from(
      { length: 9 },
      (_, at) => seedOf({ industry: "weaver", city: `Still ${at}`, health: 60 + at })
    )
    const restless = Array.from({ length: 6 }, (_, at) => seedOf({ industry: "weaver", city: `Restless ${at}` }))
    await store(berth.databaseUrl, owner, [...still, ...restless])
    const seen: Array<string> = []
    let cursor: string | null = null
    do {
      const after: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`
      const { data, meta }: Listed<Shown> = await ask(`vertical=weaver&limit=2${after}`)
      seen.push(...data.map(({ id }) => id))
      cursor = meta.cursor
      const health = () => 50 + seen.length * 7 % 50
      await change(
        berth.databaseUrl,
        restless.map((one, at) => ({ ...one, health: health(), active: (at + seen.length) % 2 === 0 }))
      )
      if (seen.length % 4 === 0) await foldComposites(berth.databaseUrl)
    } while (cursor !== null)
    const ids = still.map(({ city }) => idOf("weaver", "tx", city))
    expect(seen.filter((id) => ids.includes(id)).sort()).toEqual([...ids].sort())
  })

  it("lose the members of a business that is deleted", async () => {
    const three = Array.from({ length: 3 }, () => seedOf({ industry: "cooper" }))
    await store(berth.databaseUrl, owner, three)
    await makeSystemComposites(berth.databaseUrl)
    const id = idOf("cooper", "tx", "austin")
    interface Detail {
      readonly data: { readonly memberCount: number; readonly members: ReadonlyArray<unknown> }
    }
    const read = async () => (await hub.get<Detail>(`/v1/hub/composites/${id}`)).body.data
    const browsed = async () => {
      const { body } = await hub.get<Listed<Shown>>("/v1/hub/composites/browse?limit=100")
      return body.data.find((one) => one.id === id)?.memberCount
    }
    expect(await read()).toMatchObject({ memberCount: 3, compositeTrust: 2, name: "Austin Cooper" })
    expect(await browsed()).toBe(3)
    await runSql(
      berth.databaseUrl,
      "DELETE FROM businesses b USING listings l WHERE l.business_id = b.id AND l.id = $1",
      [three[0]?.id]
    )
    expect((await ask("vertical=cooper")).data).toMatchObject([{ id, memberCount: 2 }])
    const { memberCount, members } = await read()
    expect([memberCount, members.length]).toEqual([2, 2])
    expect(await browsed()).toBe(2)
    await change(berth.databaseUrl, three.slice(1).map((one) => ({ ...one, health: 10 })))
    expect(await browsed()).toBe(0)
    await makeSystemComposites(berth.databaseUrl)
    expect((await hub.get(`/v1/hub/composites/${id}`)).status).toBe(404)
  })

  it("that the platform made are nobody's to change", async () => {
    await store(berth.databaseUrl, owner, Array.from({ length: 3 }, () => seedOf({ industry: "tailor" })))
    await makeSystemComposites(berth.databaseUrl)
    const path = `/v1/hub/composites/${idOf("tailor", "tx", "austin")}`
    for (const holder of [owner, hub]) {
      const answers = [await holder.patch(path, { name: "Mine" }), await holder.delete(path)]
      expect(answers.map(({ status }) => status)).toEqual([403, 403])
    }
  })
})
