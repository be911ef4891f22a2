import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { freshDatabaseUrl } from "../support/Database.ts"
import { describeLong } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { owner } from "./support/owner.ts"
import { build, clear, newPlace, type Place, type Program, run, sweep } from "./support/program.ts"

const second = 1_000
/** Between two counts, and for the statements. */
const interval = 11 * second
const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

describeLong("machine time, when the platform is killed", () => {
  const scope = Effect.runSync(Scope.make())
  let place: Place
  let databaseUrl: string
  let program: Program
  /** Before the machine was started, and when it ran for certain. */
  let began: number
  let ran: number

  const start = async () => {
    program = run(place, ["node", "dist/berth.js", "serve"], { DATABASE_URL: databaseUrl, TRUST_PROXY: "1" })
    await program.printed(/npx berth call .*\n/)
  }
  const counted = async () => {
    const [row] = await runSql(
      databaseUrl,
      `SELECT (SELECT sum(compute_milliseconds) FROM usage)::float8 AS periods,
        (SELECT sum(compute_milliseconds) FROM usage_days)::float8 AS days`
    )
    expect(row?.["periods"]).toBe(row?.["days"])
    return Number(row?.["days"])
  }
  /** Waits until all is counted that was there to count when it was called. */
  const countedAtLeast = (millis: number) => expect.poll(counted, { timeout: 30_000 }).toBeGreaterThanOrEqual(millis)

  beforeAll(async () => {
    place = await newPlace()
    await build(place)
    databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
    began = Date.now()
    await start()
    ran = Date.now()
  }, 120_000)
  afterAll(async () => {
    await program.end("SIGTERM")
    sweep(place)
    clear(place)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }, 60_000)

  it("goes on without a gap for a machine that lives on", async () => {
    await countedAtLeast(1)
    for (const pause of [200, 9 * second]) {
      await program.end("SIGKILL")
      await sleep(pause)
      await start()
      await countedAtLeast(Date.now() - ran)
      expect(await counted()).toBeLessThanOrEqual(Date.now() - began)
    }
    const { body } = await (await owner(program)).request<{ data: { usage: { computeSeconds: number } } }>(
      "GET",
      "/v1/billing"
    )
    expect(body.data.usage.computeSeconds).toBe(Math.floor((await counted()) / second))
  }, 120_000)

  it("ends with the last count for a machine that dies with its host, and begins anew with its start", async () => {
    const before = await counted()
    await program.end("SIGKILL")
    sweep(place)
    const died = Date.now()
    await sleep(interval + 3 * second)
    const startedAgain = Date.now()
    await start()
    const back = Date.now()
    await countedAtLeast(Math.max(before, died - ran - interval) + 1)
    await countedAtLeast(died - ran - interval + (Date.now() - back))
    expect(await counted()).toBeLessThanOrEqual(died - began + Date.now() - startedAgain)
  }, 120_000)

  it("of an orderly end is whole", async () => {
    const before = await counted()
    await countedAtLeast(before + 1)
    const [last, at] = [await counted(), Date.now()]
    await sleep(4 * second)
    expect(await program.end("SIGTERM")).toEqual({ code: 0, signal: null })
    // What came after the last tick is counted as the machine is stopped.
    const passed = (await counted()) - last
    expect(passed).toBeGreaterThan(3.9 * second)
    expect(passed).toBeLessThan(Date.now() - at + second)
  }, 120_000)
})
