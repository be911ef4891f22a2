import { makeCounters } from "#src/jobs/write-behind.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FastCheck } from "effect"

interface Row {
  readonly id: string
  readonly a: number
  readonly b: number
}

type Step =
  | { readonly _tag: "Add"; readonly id: string; readonly name: "a" | "b"; readonly by: number }
  | { readonly _tag: "Flush"; readonly works: boolean; readonly meanwhile: ReadonlyArray<string> }

const id = FastCheck.constantFrom("x", "y", "z")
const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  FastCheck.record({
    _tag: FastCheck.constant("Add" as const),
    id,
    name: FastCheck.constantFrom("a" as const, "b" as const),
    by: FastCheck.nat(9)
  }),
  FastCheck.record({
    _tag: FastCheck.constant("Flush" as const),
    works: FastCheck.boolean(),
    meanwhile: FastCheck.array(id, { maxLength: 3 })
  })
)

describe("counts that are written behind", () => {
  it("are each written once, whatever fails, and whatever is counted while they are written", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step), FastCheck.integer({ min: 1, max: 3 }), (steps, batch) => {
        const added = new Map<string, number>()
        const stored = new Map<string, number>()
        let flush: Step | undefined
        const count = (id: string, name: "a" | "b", by: number) => {
          counters.add(id, () => ({ id, a: 0, b: 0 }), name, by)
          added.set(id + name, (added.get(id + name) ?? 0) + by)
        }
        const counters = makeCounters({
          what: "counts",
          names: ["a", "b"],
          capacity: 3,
          batch,
          write: (rows: ReadonlyArray<Row>) =>
            Effect.suspend(() => {
              if (flush?._tag !== "Flush") return Effect.die("nobody flushes")
              assert.isAtMost(rows.length, batch)
              for (const other of flush.meanwhile) count(other, "a", 1)
              return flush.works ? Effect.succeed(rows) : Effect.fail("away")
            }),
          written: (rows) => {
            for (const row of rows) {
              for (const name of ["a", "b"] as const) {
                stored.set(row.id + name, (stored.get(row.id + name) ?? 0) + row[name])
              }
            }
          }
        })
        for (const one of steps) {
          if (one._tag === "Add") count(one.id, one.name, one.by)
          else {
            flush = one
            const any = counters.size() > 0
            assert.strictEqual(Exit.isSuccess(Effect.runSyncExit(counters.flush)), one.works || !any)
          }
          for (const [key, sum] of added) {
            const waiting = counters.get(key.slice(0, 1))?.[key.slice(1) as "a" | "b"] ?? 0
            assert.strictEqual((stored.get(key) ?? 0) + waiting, sum, key)
          }
        }
      })
    )
  })

  it("have room for so many rows, and go on in those", () => {
    const counters = makeCounters({
      what: "counts",
      names: ["a", "b"],
      capacity: 2,
      batch: 9,
      write: (_: ReadonlyArray<Row>) => Effect.void
    })
    for (const id of ["x", "y", "z", "x"]) counters.add(id, () => ({ id, a: 0, b: 0 }), "a")
    assert.deepStrictEqual([counters.size(), counters.get("x")?.a, counters.get("z")], [2, 2, undefined])
    Effect.runSync(counters.flush)
    assert.strictEqual(counters.size(), 0)
  })
})
