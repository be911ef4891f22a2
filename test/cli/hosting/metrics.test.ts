import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Sleeper, sleeper } from "../../deployments/support/sleeper.ts"
import { useBerth } from "../../support/Berth.ts"
import { secretKey } from "../../support/mint.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { StartableMachines } from "../../support/startable-machines.ts"
import { call, initialize, json, mcp } from "../../usage/support/tool-server.ts"
import { berthCli } from "../mcp/run.ts"

describe("berth metrics", () => {
  const machines = new StartableMachines()
  const berth = useBerth({ machines: machines.layer, variables: secretKey })
  const home = temporaryDirectory("metrics")
  let one: Sleeper
  beforeAll(async () => {
    machines.conduct = { delay: 0, listener: mcp }
    one = await sleeper(berth, machines)
  })
  afterAll(machines.clear)

  const run = (...args: ReadonlyArray<string>) =>
    berthCli(["metrics", "--server", one.server.id, ...args], {
      XDG_CONFIG_HOME: home,
      BERTH_URL: berth.url,
      BERTH_TOKEN: one.owner.token
    })

  it("prints that nothing was asked of a server", async () => {
    const { code, out } = await run("--tools")
    expect(code).toBe(0)
    expect(out).toMatch(/^Server +.*\nPeriod +the last 24h\nRequests +0\nErrors +0\n\nNo tool was called$/)
  })

  it("prints the four figures, and those of each tool with who called it, as people and as scripts read them", async () => {
    const post = (body: unknown, headers = {}) => one.ask("/mcp", { body, headers: { ...json, ...headers } }, "POST")
    const { headers } = await post(initialize("tester"))
    const session = { "mcp-session-id": headers.get("mcp-session-id") ?? "" }
    for (const name of ["works", "works", "works", "fails"]) await post(call(name), session)
    const counted = async () => {
      berth.hurry(3_000)
      return JSON.parse((await run("--period", "1h", "--tools", "--json")).out) as { tools: { items: Array<object> } }
    }
    await expect.poll(counted, { timeout: 10_000 }).toMatchObject({
      requestCount: 5,
      errorCount: 0,
      avgLatencyMs: expect.any(Number),
      p99LatencyMs: expect.any(Number),
      tools: { items: [{ tool: "works", calls: 3, errors: 0 }, { tool: "fails", calls: 1, errors: 1 }], other: null }
    })
    const { out } = await run("--period", "1h", "--tools")
    expect(out).toMatch(
      /^Period +the last 1h\nRequests +5\nErrors +0\nAverage +[\d.]+ ms\n99 of 100 +within [\d.]+ ms\n\nTOOL +CALLS/m
    )
    expect(out).toMatch(/^works +3 +0 +[\d.]+ ms +[\d.]+ ms +tester 3$/m)
    expect(out).toMatch(/^fails +1 +1 \(100 %\) /m)
    expect(Object.keys(JSON.parse((await run("--json")).out) as object)).toEqual([
      "requestCount",
      "errorCount",
      "avgLatencyMs",
      "p99LatencyMs"
    ])
  })

  it("takes the periods that there are, and says which", async () => {
    const refused = await run("--period", "1y")
    expect(refused.code).toBe(1)
    expect(refused.err).toMatch(/1h.*24h.*7d.*30d/s)
  })
})
