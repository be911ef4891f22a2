import { FreshCache } from "#src/gateway/fresh-cache.ts"
import { assert, describe, it } from "@effect/vitest"

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
    now: () => clock.now
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
    for (const forget of ["drop", "clear"] as const) {
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

  it("does not keep a failure", async () => {
    let fails = true
    const cache = new FreshCache<string>({
      load: () => fails ? Promise.reject(new Error("away")) : Promise.resolve("A"),
      lifetime: () => 10,
      capacity: 1,
      absentCapacity: 1,
      now: () => 0
    })
    const outcomes = await Promise.allSettled([cache.get("a"), cache.get("a")])
    assert.deepStrictEqual(outcomes.map(({ status }) => status), ["rejected", "rejected"])
    fails = false
    assert.strictEqual(await cache.get("a"), "A")
  })
})
