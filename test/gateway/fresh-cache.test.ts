import { FreshCache } from "#src/routing/fresh-cache.ts"
import { assert, describe, it } from "@effect/vitest"
import { setTimeout } from "node:timers/promises"

const setUp = (values: Record<string, string | undefined>) => {
  const loads: Array<{ readonly key: string; readonly finish: () => void }> = []
  const clock = { now: 0 }
  const cache = new FreshCache<string>({
    load: (key) =>
      new Promise((resolve) => {
        const value = values[key]
        loads.push({ key, finish: () => resolve(value) })
      }),
    lifetime: (value) => value === undefined ? 5 : 10,
    capacity: 2,
    absentCapacity: 1,
    now: () => clock.now,
    fallback: { timeout: 20, lifetime: 3 }
  })
  const get = async (key: string) => {
    const before = loads.length
    const value = cache.get(key)
    loads.slice(before).forEach(({ finish }) => finish())
    return value
  }
  return { cache, clock, get, loads, values }
}

describe("what the gateway remembers", () => {
  it("is loaded once for all who wait", async () => {
    const { cache, loads } = setUp({ a: "A" })
    const all = [cache.get("a"), cache.get("a"), cache.get("a")]
    assert.strictEqual(loads.length, 1)
    loads[0]!.finish()
    assert.deepStrictEqual(await Promise.all(all), ["A", "A", "A"])
    assert.strictEqual(cache.peek("a"), "A")
  })

  it("is used until its time is over, absence for its own time", async () => {
    const { cache, clock, get, loads } = setUp({ a: "A" })
    await get("a")
    await get("b")
    clock.now = 4
    await get("b")
    assert.strictEqual(loads.length, 2)
    clock.now = 9
    assert.strictEqual(await get("a"), "A")
    assert.strictEqual(loads.length, 2)
    clock.now = 10
    assert.isUndefined(cache.peek("a"))
    await get("a")
    await get("b")
    assert.deepStrictEqual(loads.map(({ key }) => key), ["a", "b", "a", "b"])
  })

  it("is not kept when it was dropped while it was being loaded: it may be from before the change", async () => {
    for (const forget of ["drop", "expire"] as const) {
      const { cache, get, loads, values } = setUp({ a: "old" })
      const waiting = cache.get("a")
      cache[forget]("a")
      values["a"] = "new"
      assert.strictEqual(await get("a"), "new")
      loads[0]!.finish()
      assert.strictEqual(await waiting, "old")
      assert.strictEqual(cache.peek("a"), "new")
    }
  })

  it("is bounded, and absent names push nothing real out", async () => {
    const { cache, get } = setUp({ a: "A", b: "B", c: "C" })
    for (const key of ["a", "b", "x", "y", "z"]) await get(key)
    assert.deepStrictEqual(cache.sizes, { present: 2, absent: 1 })
    assert.strictEqual(cache.peek("a"), "A")
    await get("c")
    assert.isUndefined(cache.peek("a"))
  })

  it("is used past its time while nothing newer can be had, loading failing or taking long", async () => {
    let load = () => Promise.resolve<string | undefined>("A")
    const clock = { now: 0 }
    let loads = 0
    const cache = new FreshCache<string>({
      load: () => {
        loads++
        return load()
      },
      lifetime: () => 10,
      capacity: 1,
      absentCapacity: 1,
      now: () => clock.now,
      fallback: { timeout: 20, lifetime: 3 }
    })
    await cache.get("a")
    load = () => Promise.reject(new Error("away"))
    clock.now = 10
    assert.strictEqual(await cache.get("a"), "A")
    clock.now = 12
    assert.strictEqual(await cache.get("a"), "A", "without asking again")
    assert.strictEqual(loads, 2)
    load = () => new Promise(() => undefined)
    clock.now = 13
    assert.strictEqual(await cache.get("a"), "A")
    cache.expire()
    assert.isUndefined(cache.peek("a"))
    assert.strictEqual(await cache.get("a"), "A")
    load = () => Promise.resolve(undefined)
    cache.expire("a")
    assert.isUndefined(await cache.get("a"), "it is known to be gone")
    load = () => Promise.reject(new Error("away"))
    cache.expire()
    assert.strictEqual(await cache.get("a").catch(() => "failed"), "failed", "and stays so")
  })

  it("is not used any more once it was dropped", async () => {
    const { cache, get } = setUp({ a: "A" })
    await get("a")
    cache.drop("a")
    const waiting = cache.get("a")
    assert.strictEqual(await Promise.race([waiting, setTimeout(60, "waits")]), "waits")
  })

  it("does not keep a failure", async () => {
    let fails = true
    const cache = new FreshCache<string>({
      load: () => fails ? Promise.reject(new Error("away")) : Promise.resolve("A"),
      lifetime: () => 10,
      capacity: 1,
      absentCapacity: 1,
      now: () => 0,
      fallback: { timeout: 20, lifetime: 3 }
    })
    const outcomes = await Promise.allSettled([cache.get("a"), cache.get("a")])
    assert.deepStrictEqual(outcomes.map(({ status }) => status), ["rejected", "rejected"])
    fails = false
    assert.strictEqual(await cache.get("a"), "A")
  })
})
