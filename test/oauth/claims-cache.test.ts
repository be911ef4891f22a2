import { ClaimsCache } from "#src/oauth/claims-cache.ts"
import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"

describe("remembered claims", () => {
  it("never come back expired or foreign, and never outgrow the capacity", () => {
    const step = fc.record({ put: fc.boolean(), key: fc.constantFrom("a", "b", "c", "d", "e"), now: fc.nat(100) })
    fc.assert(fc.property(fc.array(step), (steps) => {
      const cache = new ClaimsCache<{ key: string; until: number }>(3)
      for (const { key, now, put } of steps) {
        if (put) cache.put(key, { key, until: now + 10 }, now + 10)
        const claims = cache.get(key, now)
        if (claims !== undefined) {
          assert.strictEqual(claims.key, key)
          assert.isBelow(now, claims.until)
        }
        assert.isAtMost(cache.size, 3)
      }
    }))
  })

  it("make room by forgetting what was used longest ago", () => {
    const cache = new ClaimsCache<string>(2)
    cache.put("a", "A", 10)
    cache.put("b", "B", 10)
    cache.get("a", 0)
    cache.put("c", "C", 10)
    assert.strictEqual(cache.get("a", 0), "A")
    assert.isUndefined(cache.get("b", 0))
  })
})
