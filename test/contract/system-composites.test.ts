import { beforeAll, describe, expect, it } from "vitest"
import { berthCli } from "../cli/mcp/run.ts"
import { makeSystemComposites } from "../composites/fold.ts"
import { idOf, type Seed } from "../composites/model.ts"
import { change, seedOf, store } from "../composites/seeds.ts"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

const make = () => makeSystemComposites(berth.databaseUrl)
const stored = () =>
  runSql(
    berth.databaseUrl,
    `SELECT id, name, slug, description, visibility, query_definition, created_at, updated_at FROM composites
     WHERE created_by = 'system' ORDER BY name`
  )
const some = (count: number, fields: Partial<Seed>) => Array.from({ length: count }, () => seedOf(fields))

describe("system composites", () => {
  const salons = [
    ...some(2, { city: "San José", state: "CA", industry: "Nail Salons" }),
    ...some(1, { city: "san jose", state: "California", industry: "nail_salons" })
  ]

  row(
    "system composites: 3 eligible listings of a vertical in a city/state, at most 500, <City> <Vertical>, stable ids, public",
    async () => {
      await store(berth.databaseUrl, owner, [
        ...salons,
        ...some(3, { city: "MCALLEN", trust: 3, health: 50 }),
        // One short, each for another reason.
        ...some(2, { city: "Dallas" }),
        ...some(2, { city: "El Paso" }),
        seedOf({ city: "El Paso", trust: 1 }),
        ...some(2, { city: "Waco" }),
        seedOf({ city: "Waco", health: 49 }),
        ...some(2, { city: "Tyler" }),
        seedOf({ city: "Tyler", active: false }),
        ...some(2, { city: "Springfield", state: "IL" }),
        seedOf({ city: "Springfield", state: "MO" }),
        ...some(3, { city: "Laredo", industry: "custom" }),
        ...some(3, { city: "" })
      ])
      expect(await make()).toEqual({ added: 2, changed: 0, removed: 0, total: 2 })
      expect(await stored()).toMatchObject([
        {
          id: idOf("restaurant", "tx", "mcallen"),
          name: "McAllen Restaurant",
          slug: "mcallen-restaurant-tx",
          description: "Restaurant in McAllen, TX",
          visibility: "public",
          query_definition: { vertical: "restaurant", city: "MCALLEN", state: "TX", verification_tier_min: 2 }
        },
        {
          id: idOf("nail salons", "ca", "san jose"),
          name: "San José Nail Salons",
          slug: "san-jose-nail-salons-ca",
          query_definition: { vertical: "Nail Salons", city: "San José", state: "CA", verification_tier_min: 2 }
        }
      ])
    }
  )

  it("stay as they are while nothing changes, also for two who make them at once", async () => {
    const before = await stored()
    const unchanged = { added: 0, changed: 0, removed: 0, total: 2 }
    expect(await Promise.all([make(), make(), make()])).toEqual([unchanged, unchanged, unchanged])
    expect(await stored()).toEqual(before)
  })

  it("keep their id when a name changes, and go when one member is no longer eligible", async () => {
    const renamed = salons.map((one) => ({ ...one, city: "SAN JOSÉ" }))
    await change(berth.databaseUrl, renamed)
    expect(await make()).toEqual({ added: 0, changed: 1, removed: 0, total: 2 })
    await change(berth.databaseUrl, renamed.map((one, at) => at === 0 ? { ...one, trust: 1 } : one))
    expect(await make()).toEqual({ added: 0, changed: 0, removed: 1, total: 1 })
    await change(berth.databaseUrl, renamed)
    expect(await make()).toEqual({ added: 1, changed: 0, removed: 0, total: 2 })
    expect((await stored()).map(({ id }) => id)).toContain(idOf("nail salons", "ca", "san jose"))
  })

  it("are at most 500: those of the most members, then of the lowest id", async () => {
    const cities = Array.from({ length: 510 }, (_, at) => `Town ${at}`)
    await store(berth.databaseUrl, owner, cities.flatMap((city, at) => some(at < 5 ? 4 : 3, { city })))
    expect(await make()).toMatchObject({ total: 500 })
    const ids = (await stored()).map(({ id }) => String(id))
    const larger = cities.slice(0, 5).map((city) => idOf("restaurant", "tx", city))
    const equal = [
      ...cities.slice(5).map((city) => idOf("restaurant", "tx", city)),
      idOf("restaurant", "tx", "mcallen"),
      idOf("nail salons", "ca", "san jose")
    ].sort()
    expect(ids.sort()).toEqual([...larger, ...equal.slice(0, 495)].sort())
  })

  it("are made by the operator's command", async () => {
    const home = temporaryDirectory()
    const { code, out } = await berthCli(["admin", "composites"], { DATABASE_URL: berth.databaseUrl, BERTH_HOME: home })
    expect([code, out]).toEqual([0, "500 system composites: 0 new, 0 changed, 0 removed"])
  })
})
