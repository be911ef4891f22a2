import { type RequestListener } from "node:http"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { itLong } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { healthy, StartableMachines } from "../support/startable-machines.ts"
import { sleeper } from "./support/sleeper.ts"

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))
const hangs: RequestListener = () => undefined
const doubtful = "SELECT id FROM servers WHERE id = $1 AND wake_retry_at > now()"
const drops: RequestListener = (_req, res) => void res.destroy()

describe("the monitor", () => {
  const machines = new StartableMachines()
  const berth = useBerth({ machines: machines.layer })
  beforeEach(() => void (machines.conduct = { delay: 0, listener: healthy }))
  afterAll(machines.clear)

  /** One look at the machines, and what it begins. */
  const look = async () => {
    berth.hurry(2_000)
    await pause(100)
  }
  const startsOf = (machine: string) => machines.starts.filter((name) => name === machine).length

  /** Lets the time pass in which it is asked three times. */
  const askThrice = async (machine: string, patience: number) => {
    for (let i = 0; i < 4 && machines.statusOf(machine) === "running"; i++) {
      berth.advance(16_000)
      await look()
      await pause(patience)
    }
  }
  /** Until it was started so many times; the pauses before a start are passed over. */
  const startedAgain = (machine: string, times: number) =>
    expect.poll(async () => (await look(), berth.advance(2_000), startsOf(machine)), { timeout: 20_000 }).toBe(times)

  itLong("ends a machine that takes connections and says nothing, which is then started again", async () => {
    machines.conduct = { delay: 0, listener: hangs }
    const one = await sleeper(berth, machines, { autoStopSeconds: null })
    await look()
    machines.conduct = { delay: 0, listener: healthy }
    // Within its health check's time, which it needs no more: its server runs.
    berth.advance(5_000)
    await look()
    // While it is asked for the last time nobody waits.
    await expect.poll(() => runSql(berth.databaseUrl, doubtful, [one.server.id]), { timeout: 12_000 }).toHaveLength(1)
    const early = await one.ask()
    expect(early.status).toBe(503)
    expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(0)
    expect(early.body).toMatchObject({ error: { message: expect.stringContaining("is started again shortly") } })
    await startedAgain(one.machine, 1)
    expect((await one.ask()).status).toBe(200)
    const messages = await one.messages()
    expect(messages).toContain("took the connection and did not answer, 3 times in a row: ending it")
    expect(messages).toContain("attempt 1 of 5")
  }, 60_000)

  itLong("sends nobody to a machine that hangs, twenty seconds after it did at the latest", async () => {
    let asked = 0
    let isHung = false
    machines.conduct = { delay: 0, listener: (req, res) => (asked++, (isHung ? hangs : healthy)(req, res)) }
    const one = await sleeper(berth, machines, { autoStopSeconds: null })
    await expect.poll(() => asked, { timeout: 20_000 }).toBeGreaterThan(0)
    // Its next look is due as late as can be; from here on time is the program's own.
    isHung = true
    const began = Date.now()
    await expect.poll(async () => (await runSql(berth.databaseUrl, doubtful, [one.server.id])).length, {
      timeout: 40_000
    }).toBe(1)
    expect(Date.now() - began).toBeLessThan(20_000)
    expect((await one.ask()).status).toBe(503)
  }, 80_000)

  it(
    "gives up on one that is silent after each start, and the server runs once it is started and answers",
    async () => {
      machines.conduct = { delay: 0, listener: drops }
      const one = await sleeper(berth, machines, { autoStopSeconds: null })
      await look()
      for (let attempt = 1; attempt <= 5; attempt++) {
        await askThrice(one.machine, 100)
        await startedAgain(one.machine, attempt)
        // Longer than a machine runs that has settled, had it answered.
        for (let i = 0; i < 3; i++) {
          berth.advance(1_000)
          await look()
        }
      }
      await askThrice(one.machine, 100)
      await expect.poll(async () => (await look(), berth.advance(2_000), one.read()), { timeout: 20_000 })
        .toMatchObject({ status: "error" })
      expect(await one.messages()).toContain(
        "ended again after each of 5 attempts: it is started again every 10 minutes"
      )
      machines.conduct = { delay: 0, listener: healthy }
      const started = await one.owner.request("POST", `/v1/servers/${one.server.id}/start`)
      expect(started.body).toMatchObject({ data: { status: "running" } })
      expect((await one.ask()).status).toBe(200)
    },
    60_000
  )

  it("tries one rarely that it gave up, which runs again when what it needs is back", async () => {
    const one = await sleeper(berth, machines, { autoStopSeconds: null })
    machines.conduct = { delay: 0, exits: 1, listener: healthy }
    await look()
    machines.end(one.machine, 1)
    await expect.poll(async () => (await look(), berth.advance(8_000), one.read()), { timeout: 20_000 })
      .toMatchObject({ status: "error" })
    const starts = startsOf(one.machine)
    berth.advance(500_000)
    await look()
    expect(startsOf(one.machine)).toBe(starts)
    machines.conduct = { delay: 0, listener: healthy }
    berth.advance(110_000)
    await startedAgain(one.machine, starts + 1)
    expect(await one.messages()).toContain("as every 10 minutes since it was given up")
    await expect.poll(async () => (berth.hurry(30_000), one.read())).toMatchObject({ status: "running" })
  }, 60_000)

  it("finds one running again that was in error and answers", async () => {
    const one = await sleeper(berth, machines, { autoStopSeconds: null })
    await runSql(berth.databaseUrl, "UPDATE servers SET status = 'error' WHERE id = $1", [one.server.id])
    await expect.poll(async () => (berth.hurry(30_000), one.read())).toMatchObject({ status: "running" })
  })

  it("finds it running also where a newer deployment failed meanwhile, unless that one put it there", async () => {
    const one = await sleeper(berth, machines, { autoStopSeconds: null })
    const sql = (statement: string) => runSql(berth.databaseUrl, statement, [one.server.id])
    await sql(
      `INSERT INTO deployments (id, server_id, version, type, status, stage, image_uri, port, starts)
       SELECT 'dep_next' || substr($1, 9), $1, 2, 'deploy', 'failed', 'kept', 'oci:/nowhere', 8080, 1`
    )
    // As such a deployment leaves it, whose machine is kept.
    await sql("UPDATE servers SET status = 'error', failed_by_deployment = true WHERE id = $1")
    for (let i = 0; i < 3; i++) {
      berth.hurry(30_000)
      await pause(100)
    }
    expect(await one.read()).toMatchObject({ status: "error" })
    // Its owner has seen it, and goes on with the version before. What crashes from then on recovers by itself.
    expect((await one.owner.request("POST", `/v1/servers/${one.server.id}/restart`)).status).toBe(200)
    machines.conduct = { delay: 0, exits: 1, listener: healthy }
    await look()
    machines.end(one.machine, 1)
    await expect.poll(async () => (await look(), berth.advance(8_000), one.read()), { timeout: 20_000 })
      .toMatchObject({ status: "error" })
    machines.conduct = { delay: 0, listener: healthy }
    await expect.poll(async () => (await look(), berth.advance(60_000), berth.hurry(30_000), one.read()), {
      timeout: 20_000
    })
      .toMatchObject({ status: "running" })
    expect(await one.messages()).toContain("The machine is healthy again")
  })

  it("leaves one alone that was busy for a probe, and one that answers with an error", async () => {
    let asked = 0
    machines.conduct = {
      delay: 0,
      listener: (_req, res) => {
        asked++
        if (asked > 1) res.writeHead(500).end("broken")
        else res.destroy()
      }
    }
    const one = await sleeper(berth, machines, { autoStopSeconds: null })
    await expect.poll(async () => (await look(), berth.advance(16_000), asked), { timeout: 10_000 }).toBeGreaterThan(3)
    expect(machines.statusOf(one.machine)).toBe("running")
    expect(startsOf(one.machine)).toBe(0)
    expect(await one.read()).toMatchObject({ status: "running" })
  })
})
