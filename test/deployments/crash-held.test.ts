import { text } from "node:stream/consumers"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { goodBodies } from "../support/bodies.ts"
import { runSql } from "../support/sql.ts"
import { type Conduct, StartableMachines } from "../support/startable-machines.ts"
import { type Sleeper, sleeper } from "./support/sleeper.ts"

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Answers with what it was sent. */
const echo: Conduct["listener"] = (req, res) =>
  void text(req).then((body) =>
    res.writeHead(200, { "content-type": "application/json" }).end(body === "" ? "{}" : body)
  )

describe("a server whose machine has ended by itself", () => {
  const machines = new StartableMachines()
  const berth = useBerth({ machines: machines.layer })
  beforeEach(() => void (machines.conduct = { delay: 0, listener: echo }))
  afterAll(machines.clear)

  const startsOf = ({ machine }: Sleeper) => machines.starts.filter((name) => name === machine).length
  /** One look at the machines. */
  const look = async () => {
    berth.hurry(2_000)
    await pause(100)
  }
  /** A server that the platform has seen to run, as has the gateway. */
  const running = async () => {
    const one = await sleeper(berth, machines, { autoStopSeconds: null })
    await look()
    expect((await one.ask()).status).toBe(200)
    return one
  }
  const sent = { jsonrpc: "2.0", id: 1, method: "ping" }
  const call = (one: Sleeper, session?: string) =>
    one.ask("/mcp", { body: sent, headers: session === undefined ? {} : { "mcp-session-id": session } }, "POST")

  it("lets requests wait until it is healthy again, with their bodies: one start for all, and no look is awaited", async () => {
    const one = await running()
    machines.conduct = { delay: 700, listener: echo }
    machines.end(one.machine, 137)
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(one)))
    expect(answers.map(({ body, status }) => ({ body, status }))).toEqual(
      answers.map(() => ({ body: sent, status: 200 }))
    )
    expect(startsOf(one)).toBe(1)
    const messages = await one.messages()
    expect(messages).toContain("exited with code 137 (SIGKILL, as when it takes more memory than it has)")
    expect(messages).toContain("attempt 1 of 5")
    expect(messages).not.toMatch(/asleep|slept|wok/i)
    expect(await one.read()).toMatchObject({ status: "running" })
  })

  it("has no session of before: such a request waits too, and is told to initialize", async () => {
    const one = await running()
    machines.end(one.machine, 1)
    expect(await call(one, "abc~v1")).toMatchObject({ status: 404, body: { error: { code: -32001 } } })
    expect((await call(one)).status).toBe(200)
  })

  it("that keeps ending lets no request wait for a long pause, and says in how many seconds it is over", async () => {
    const one = await running()
    machines.conduct = { delay: 0, exits: 1, listener: echo }
    machines.end(one.machine, 1)
    await expect.poll(async () => (await look(), berth.advance(3_000), startsOf(one)), { timeout: 20_000 }).toBe(4)
    await expect.poll(() => call(one).then(({ body }) => JSON.stringify(body)), { timeout: 10_000 })
      .toContain("ended several times in a row")
    const began = performance.now()
    const paused = await call(one)
    expect(paused).toMatchObject({ status: 503, body: { error: { code: "SERVICE_UNAVAILABLE" } } })
    expect(Number(paused.headers.get("retry-after"))).toBeGreaterThan(0)
    expect(performance.now() - began).toBeLessThan(1_000)
    await expect.poll(async () => (await look(), berth.advance(8_000), one.read()), { timeout: 20_000 })
      .toMatchObject({ status: "error" })
    const failed = performance.now()
    const given = await call(one)
    expect(given.status).toBe(503)
    expect(performance.now() - failed).toBeLessThan(2_000)
    // Nobody is told that it was asleep, which it never was.
    expect([paused.text, given.text, await one.messages()].join("\n")).not.toMatch(/asleep|slept|wok/i)
  }, 60_000)

  it("waits on where it ends once more before it is healthy, and answers those that came first", async () => {
    const one = await running()
    machines.conduct = { delay: 600, exits: 1, listener: echo }
    machines.end(one.machine, 1)
    const first = call(one)
    await expect.poll(() => startsOf(one)).toBe(1)
    machines.conduct = { delay: 0, listener: echo }
    const answers: Array<Promise<{ readonly status: number }>> = [first]
    while (startsOf(one) === 1) {
      answers.push(call(one))
      await pause(200)
      berth.advance(200)
      berth.hurry(2_000)
    }
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 200))
  }, 30_000)

  it("is held no longer by a process that has ended", async () => {
    const one = await running()
    await runSql(
      berth.databaseUrl,
      "UPDATE servers SET restarting_until = now() + interval '5 minutes' WHERE id = $1",
      [one.server.id]
    )
    const waits = call(one)
    await look()
    expect((await waits).status).toBe(200)
  })

  it("in byoa mode lets more than ten requests of one address wait", async () => {
    const one = await running()
    const configured = await one.owner.put(`/v1/servers/${one.server.id}/auth`, {
      authMode: "byoa",
      byoaConfig: goodBodies["PUT /v1/servers/{serverId}/auth"]?.byoaConfig
    })
    expect(configured.status).toBe(200)
    machines.conduct = { delay: 300, listener: echo }
    machines.end(one.machine, 1)
    const headers = { "x-forwarded-for": "203.0.113.7" }
    const answers = await Promise.all(
      Array.from({ length: 15 }, () => one.ask("/mcp", { body: sent, headers }, "POST"))
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  })

  it("counts a request that is told of a lost session in no month", async () => {
    const one = await running()
    const used = async () => {
      berth.hurry(3_000)
      const { body } = await one.owner.get<{ data: { usage: { requestCount: number } } }>("/v1/billing")
      return body.data.usage.requestCount
    }
    await expect.poll(used).toBe(1)
    machines.end(one.machine, 1)
    expect((await call(one, "abc~v1")).status).toBe(404)
    expect((await call(one)).status).toBe(200)
    await expect.poll(used).toBe(2)
  })

  it("and that its owner stops meanwhile is answered as one that is stopped", async () => {
    const one = await running()
    machines.conduct = { delay: 60_000, listener: echo }
    machines.end(one.machine, 1)
    const waits = call(one)
    await expect.poll(() => startsOf(one)).toBe(1)
    expect((await one.owner.request("POST", `/v1/servers/${one.server.id}/stop`)).status).toBe(200)
    expect(await waits).toMatchObject({ status: 503, body: { error: { message: expect.stringContaining("stopped") } } })
  })

  it("is not waited for where it runs and takes no connection", async () => {
    const one = await running()
    machines.conduct = { delay: 60_000, listener: echo }
    machines.refuse(one.machine)
    const began = performance.now()
    expect(await call(one)).toMatchObject({ status: 502, body: { error: { code: "BAD_GATEWAY" } } })
    expect(performance.now() - began).toBeLessThan(8_000)
    expect(startsOf(one)).toBe(0)
  })
})
