import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Holder } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { hubKey } from "../support/composites.ts"
import { type FailureBody } from "../support/http.ts"
import { fill, openApi, type Operation, operationsOf } from "../support/operations.ts"

const berth = useBerth()
let owner: Account
let agent: Holder
let operations: ReadonlyArray<Operation>
let serverId: string
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  agent = await hubKey(berth, owner)
  operations = operationsOf(await openApi(berth))
  serverId = (await owner.server((await owner.project()).id)).id
})

/** What JavaScript reads as 5, 10, 16 or 30, and a person may have meant otherwise. */
const loose = ["1e1", "0x10", "0b11", "0o17", "+5", "%2B5", "%205", "5%20", "%0A5", "5.", ".5", "5,0", "1_0", "٥", "５"]

describe("a number in a query", () => {
  it("is written in plain digits wherever a list has a limit", async () => {
    const limited = operations.filter(({ query }) => query.includes("limit"))
    expect(limited.length).toBeGreaterThan(5)
    for (const operation of limited) {
      for (const limit of [...loose, "5.0", "-5", "Infinity"]) {
        const holder = operation.path.startsWith("/v1/hub/composites") ? agent : owner
        const { body, status } = await holder.get<FailureBody>(
          `${fill(operation, { serverId })}?limit=${encodeURI(limit)}`
        )
        const where = [operation.name, limit]
        expect([...where, status]).toEqual([...where, 400])
        expect([...where, body.error.details?.issues]).toEqual([...where, [{
          path: "limit",
          message: expect.stringMatching(/^must be an integer between 1 and (100|200|500)$/) as unknown
        }]])
      }
    }
  })

  it("of degrees or miles may have a sign and a point, and nothing else", async () => {
    const ask = (circle: Readonly<Record<string, string>>) => {
      const query = Object.entries({ lat: "1", lng: "1", radius_miles: "1", ...circle })
        .map(([name, value]) => `${name}=${encodeURI(value)}`).join("&")
      return berth.request<FailureBody>("GET", `/v1/directory?${query}`)
    }
    for (const name of ["lat", "lng", "radius_miles"]) {
      for (const value of [...loose, "0x1e", "Infinity", "-Infinity", "--1", "- 1"]) {
        const { body, status } = await ask({ [name]: value })
        expect([status, body.error.details?.issues], `${name} ${value}`).toEqual([400, [{
          path: name,
          message: expect.stringMatching(/^must be a number between/) as unknown
        }]])
      }
    }
    expect((await ask({ lat: "-41.80", lng: "-0", radius_miles: "007.5" })).status).toBe(200)
  })
})
