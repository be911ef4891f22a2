import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { findPeers } from "../clients/support/peers.ts"
import { useThreeMembers } from "../composites/three-members.ts"
import { type Running, start } from "../ready-server/bundle.ts"
import { restaurant } from "../ready-server/config.ts"
import { describeWhen } from "../support/needs.ts"
import { type Door, startDoorkeeper } from "./support/doorkeeper.ts"
import { exceptions, exceptionsOf } from "./support/exceptions.ts"
import { runSuite, type Suite, withStatus } from "./support/suite.ts"

const found = await findPeers()

/** How many checks each passes at least, so that none is passed by a server that answers nothing. */
const suites: ReadonlyArray<readonly [suite: Suite, passes: number]> = [["2025-11-25", 30], ["2026-07-28", 80]]

describeWhen(typeof found === "string" ? found : undefined, "the official conformance suite, at our own doors", () => {
  if (typeof found === "string") return
  const setting = useThreeMembers()
  const stops: Array<() => unknown> = []
  let ready: Running

  beforeAll(async () => {
    ready = await start(restaurant)
    stops.push(ready.stop)
  }, 120_000)
  afterAll(() => Promise.all(stops.map((stop) => stop())))

  const doors: Readonly<Record<string, () => Partial<Door>>> = {
    "/mcp": () => ({ token: setting.caller.token }),
    "/mcp/directory": () => ({ path: "/mcp/directory" }),
    "a composite": () => ({ token: setting.caller.token, path: setting.path }),
    "the ready-made server": () => ({ platform: ready.url })
  }

  describe.each(suites)("%s", (suite, passes) => {
    // The newer one gives a server less than a second for some answers, which a busy machine may take, and waits little.
    const runs = suite === "2026-07-28" ? it : it.concurrent
    runs.each(Object.keys(doors))("is passed by %s but for what is listed with its reason", {
      retry: 2,
      timeout: 180_000
    }, async (name) => {
      const keeper = await startDoorkeeper({ platform: setting.berth.url, ...doors[name]?.() })
      stops.push(keeper.stop)
      const outcomes = await runSuite(found, suite, keeper.url)
      expect(withStatus(outcomes, "FAILURE", "WARNING")).toEqual(exceptionsOf(name, suite))
      expect(withStatus(outcomes, "SUCCESS").length).toBeGreaterThan(passes)
    })
  })

  it("has no exception without a reason, for a server that nobody tries, or twice", () => {
    const tried = [...Object.keys(doors), "fixture"]
    const rows = exceptions.flatMap(({ checks, reason, servers, suites }) => {
      expect(reason).toMatch(/\.$/)
      expect(tried).toEqual(expect.arrayContaining([...servers]))
      return servers.flatMap((server) =>
        suites.flatMap((suite) => checks.map((check) => `${server} ${suite} ${check}`))
      )
    })
    expect(rows.length).toBe(new Set(rows).size)
  })
})
