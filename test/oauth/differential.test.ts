import { afterAll, beforeAll, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { introspectRows, revokeRows } from "./differential/ask-rows.ts"
import { authorizeRows } from "./differential/authorize-rows.ts"
import { monthRows, refreshRows } from "./differential/refresh-rows.ts"
import { registerRows } from "./differential/register-rows.ts"
import { type Row } from "./differential/row.ts"
import { resetClock, startSides } from "./differential/sides.ts"
import { tokenRows } from "./differential/token-rows.ts"

const tables: Readonly<Record<string, ReadonlyArray<Row>>> = {
  "an authorization request": authorizeRows,
  "a token request": tokenRows,
  "a refresh": refreshRows,
  "a registration": registerRows,
  "a revocation": revokeRows,
  "an introspection": introspectRows,
  "a late refresh": monthRows
}

/** An RFC's section, a line of the checklist, the contract, or OpenID where the oracle follows it. */
const source = /RFC \d+ §|\[\d+\]|the contract|OpenID Core §/

const berth = useBerth()
let sides: Awaited<ReturnType<typeof startSides>>
beforeAll(async () => {
  sides = await startSides(berth)
})
afterAll(() => {
  resetClock()
  sides?.stop()
})

/** One request, two servers: what they say is the same, or the row says why not. */
describeLong("oidc-provider says of", () => {
  for (const [what, rows] of Object.entries(tables)) {
    for (const { ask, differs, name, ours } of rows) {
      const title = differs === undefined
        ? `${what} ${name}: ${ours}, as we do`
        : `${what} ${name}: ${differs.theirs}, where we say ${ours}: ${differs.because}`
      it(title, async () => {
        const said = { ours: await ask(sides.ours), theirs: await ask(sides.theirs) }
        expect(said).toEqual({ ours, theirs: differs?.theirs ?? ours })
      })
    }
  }

  it("as many requests as it takes, each once, and each difference has a source", () => {
    const rows = Object.entries(tables).flatMap(([what, rows]) =>
      rows.map((row) => ({ ...row, name: `${what} ${row.name}` }))
    )
    expect(rows.length).toBeGreaterThan(200)
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
    for (const { differs, name, ours } of rows) {
      if (differs === undefined) continue
      expect([source.test(differs.because), differs.theirs !== ours], name).toEqual([true, true])
    }
  })
})
