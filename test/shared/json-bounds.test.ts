import { excessOf, JsonScan } from "#src/shared/json-bounds.ts"
import { jsonWeight } from "#src/shared/json-weight.ts"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck as fc, Predicate } from "effect"

const childrenOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : Predicate.isRecord(value) ? Object.values(value) : []
const levelsOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...childrenOf(value).map(levelsOf)) : 0
const fieldsOf = (value: unknown): number =>
  Math.max(Predicate.isRecord(value) ? Object.keys(value).length : 0, ...childrenOf(value).map(fieldsOf))

/** Every letter that is no ASCII as its escape, surrogates one by one. */
const escaped = (json: string) =>
  json.replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)

const forms = [
  (value: unknown) => JSON.stringify(value),
  (value: unknown) => JSON.stringify(value, undefined, "\t"),
  (value: unknown) => escaped(JSON.stringify(value)),
  (value: unknown) => ` \r\n${JSON.stringify(value, undefined, 1)} `
]
const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\"", "\\", "[{", "a,b", "\\\"", "\ud83d", "}]\n"))
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie("json"), { maxLength: 6 }),
    fc.dictionary(text, tie("json"), { maxKeys: 6 })
  )
}))

const excessIn = (bytes: Buffer, bounds: ConstructorParameters<typeof JsonScan>[0], cut: number) => {
  const scan = new JsonScan(bounds)
  const at = cut % (bytes.length + 1)
  return scan.push(bytes, 0, at) ?? scan.push(bytes, at)
}

describe("the count of a JSON text by its bytes", () => {
  it("is that of the value which JSON.parse makes of it, in one piece or two", () => {
    fc.assert(
      fc.property(json, fc.constantFrom(...forms), fc.nat(), (made, form, cut) => {
        const sent = form(made)
        const value: unknown = JSON.parse(sent)
        const exact = { levels: levelsOf(value), values: jsonWeight(value).nodes, fields: fieldsOf(value) }
        const bytes = Buffer.from(sent)
        expect(excessIn(bytes, exact, cut)).toBeUndefined()
        for (const name of ["levels", "fields"] as const) {
          if (exact[name] > 0) expect(excessIn(bytes, { ...exact, [name]: exact[name] - 1 }, cut)).toBe(name)
        }
        if (exact.values > 1) expect(excessIn(bytes, { ...exact, values: exact.values - 1 }, cut)).toBe("values")
      }),
      { numRuns: 500 }
    )
  })

  it("leaves what is no JSON to the parser, and passes a limit only where there is as much", () => {
    const soup = fc.array(fc.constantFrom(..."{}[]\",:\\0u \n", "true", "\"a\"", "é"), { maxLength: 60 })
    fc.assert(
      fc.property(soup, (parts) => {
        const bytes = Buffer.from(parts.join(""))
        expect(excessOf(bytes, { levels: 60, values: 122, fields: 60 })).toBeUndefined()
      }),
      { numRuns: 500 }
    )
  })

  it("counts a field as often as it is written", () => {
    const twice = Buffer.from("{\"a\":1,\"a\":2}")
    expect(excessOf(twice, { levels: 1, values: 9, fields: 1 })).toBe("fields")
  })

  it("looks at no byte after the one that passes a limit", () => {
    let looked = 0
    const bytes = new Proxy(Buffer.alloc(1_000, "["), {
      get: (target, name) => {
        if (name === "length") return target.length
        looked = Math.max(looked, Number(name) + 1)
        return Reflect.get(target, name) as unknown
      }
    })
    expect(excessOf(bytes, { levels: 5, values: 9, fields: 9 })).toBe("levels")
    expect(looked).toBe(6)
  })
})
