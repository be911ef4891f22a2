import { outageIn } from "#src/shared/outage.ts"
import { SqlError } from "@effect/sql/SqlError"
import { Cause } from "effect"
import { describe, expect, it } from "vitest"

const lost = (code: string, message = "") => new SqlError({ cause: Object.assign(new Error(message), { code }) })

describe("a cause that is a lost database", () => {
  it("is told in a line, however it is wrapped and whether it failed or died", () => {
    const causes = [
      Cause.fail(lost("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:5432")),
      Cause.die(new Error("persistence", { cause: lost("57P01", "terminating connection") })),
      Cause.parallel(Cause.die(lost("08006", "gone")), Cause.fail(lost("ECONNRESET", "reset")))
    ]
    expect(causes.map(outageIn)).toEqual([
      "the database can't be reached: connect ECONNREFUSED 127.0.0.1:5432",
      "the database can't be reached: terminating connection",
      "the database can't be reached: reset"
    ])
  })

  it("is not taken for one when anything else is in it", () => {
    expect(outageIn(Cause.fail(lost("23505", "duplicate key")))).toBeUndefined()
    expect(outageIn(Cause.parallel(Cause.fail(lost("57P01")), Cause.die(new Error("bug"))))).toBeUndefined()
    expect(outageIn(Cause.empty)).toBeUndefined()
  })
})
