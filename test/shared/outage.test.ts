import { orDiskFull } from "#src/shared/disk-full.ts"
import { describeOutage, isRejected, outageIn } from "#src/shared/outage.ts"
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

  it("whose disk is full is told so, also where its connections are lost beside it", () => {
    const full = lost("53100", "could not write init file: No space left on device")
    const told = "the database's disk is full: could not write init file: No space left on device"
    expect(outageIn(Cause.die(full))).toBe(told)
    expect(outageIn(Cause.parallel(Cause.fail(lost("57P01", "terminating connection")), Cause.die(full)))).toBe(told)
    const ours = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
    expect(outageIn(Cause.fail(ours))).toBe("the disk is full: ENOSPC: no space left on device, write")
  })

  it("is not taken for one when anything else is in it", () => {
    expect(outageIn(Cause.fail(lost("23505", "duplicate key")))).toBeUndefined()
    expect(outageIn(Cause.parallel(Cause.fail(lost("57P01")), Cause.die(new Error("bug"))))).toBeUndefined()
    expect(outageIn(Cause.empty)).toBeUndefined()
  })
})

describe("what nobody who asks can mend", () => {
  const said = (error: unknown) => {
    const failure = describeOutage(error)
    return failure === undefined ? undefined : [failure.status, failure.message.split(";")[0]]
  }

  it("is 503, in the words of what it is", () => {
    expect(said(lost("53100", "could not extend file \"base/1/2\": No space left on device")))
      .toEqual([503, "The platform's disk is full"])
    expect(said(Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })))
      .toEqual([503, "The platform's disk is full"])
    expect(said(lost("57014", "canceling statement due to statement timeout")))
      .toEqual([503, "The database did not answer in time"])
    expect(said(lost("", "timeout: the database said nothing for 17 seconds")))
      .toEqual([503, "The database did not answer in time"])
    expect(said(lost("EMFILE", "connect EMFILE"))?.[1]).toMatch(/as many files and connections/)
    expect(said(lost("57P01", "terminating connection"))).toEqual([503, "The database can't be reached"])
  })

  it("is never what somebody only wrote", () => {
    expect(said(lost("23505", "duplicate key"))).toBeUndefined()
    expect(said(new Error("ENOSPC: no space left on device"))).toBeUndefined()
    expect(said({ _tag: "Invalid", message: "name: ENOSPC is taken" })).toBeUndefined()
    expect(orDiskFull("Unpacking an image failed: ENOSPC: no space left on device, write")).toMatch(
      /^The platform's disk/
    )
    expect(orDiskFull("there is no such image")).toBe("there is no such image")
  })

  it("is told apart from what the database refuses for good", () => {
    expect(isRejected(Cause.die(new Error("x", { cause: lost("22021", "invalid byte sequence") })))).toBe(true)
    expect(isRejected(Cause.fail(lost("23514")))).toBe(true)
    for (const code of ["57P01", "53100", "40001", "40P01", ""]) expect(isRejected(Cause.die(lost(code)))).toBe(false)
    expect(isRejected(Cause.die(new Error("bug")))).toBe(false)
  })
})
