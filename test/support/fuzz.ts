import { FastCheck as fc } from "effect"
import { goodBodies } from "./bodies.ts"
import { full } from "./needs.ts"

const odd = fc.constantFrom<unknown>(
  null,
  true,
  0,
  -1,
  1e308,
  Number.MAX_SAFE_INTEGER + 1,
  0.1,
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u202eabc",
  "💡".repeat(200),
  "x".repeat(256),
  "x".repeat(40_000),
  "__proto__",
  "1; DROP TABLE users",
  "https://a b",
  "https://\u0000",
  "-",
  [],
  [[]],
  {},
  { toString: 1 },
  ["servers:read"],
  256,
  300,
  "byoa"
)
// Not https: an address is not to be fetched from here.
const value = fc.oneof(
  odd,
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: "binary" }),
  fc.integer(),
  fc.webUrl({ validSchemes: ["http"] })
)

/** Whatever somebody might send to an operation: odd values for its fields, odd fields, a good body gone bad. */
export const bodyOf = (operation: string, fields: ReadonlyArray<string>) =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(fc.constantFrom(...fields), value).map(([name, odd]) => ({
        ...goodBodies[operation],
        [name]: odd
      }))
    },
    { weight: 3, arbitrary: fc.record(Object.fromEntries(fields.map((name) => [name, value])), { requiredKeys: [] }) },
    {
      weight: 2,
      arbitrary: fc.dictionary(fc.oneof(fc.constantFrom(...fields, "__proto__", "constructor"), fc.string()), value)
    },
    { weight: 1, arbitrary: value }
  )

/** How many cases a property tries; `FUZZ_RUNS` takes more. */
export const runs = { numRuns: Number(process.env["FUZZ_RUNS"] ?? (full ? 30 : 4)), endOnFailure: true }
