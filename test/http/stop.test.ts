import { request as open } from "node:http"
import { connect } from "node:net"
import { setTimeout } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { Berth } from "../support/Berth.ts"
import { holdLock } from "../support/sql.ts"

/** A stream that has begun; and whether it came to its end, with its last chunk. */
const opened = (url: string, headers: Readonly<Record<string, string>>) =>
  new Promise<{ readonly closed: Promise<boolean> }>((resolve, reject) => {
    const stream = open(url, { headers }).on("error", reject).end()
    stream.on("response", (response) => {
      const closed = new Promise<boolean>((done) => {
        response.on("close", () => done(response.complete)).on("error", () => undefined)
      })
      response.once("data", () => resolve({ closed }))
    })
  })

describe("a stop", () => {
  it("lets what is in flight end, takes nothing new, and is done at once afterwards", async () => {
    const berth = await new Berth().start()
    const owner = await berth.signUp()
    const project = await owner.project()
    const release = await holdLock(berth.databaseUrl, "SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE", [
      owner.id
    ])
    const inFlight = owner.post(`/v1/projects/${project.id}/servers`, { name: "In flight" })
    await setTimeout(200)
    const stream = await opened(`${berth.url}/sse`, { authorization: `Bearer ${owner.token}` })
    const stopped = berth.stop()
    await setTimeout(200)
    await expect(owner.get("/v1/projects")).rejects.toMatchObject({ code: "ECONNREFUSED" })
    expect(await stream.closed).toBe(true)
    expect(berth.logged.filter((line) => line.includes("waiting for one request under way"))).toHaveLength(1)
    await release()
    const answer = await inFlight
    expect([answer.status, answer.body]).toMatchObject([201, { data: { name: "In flight" } }])
    const released = performance.now()
    await stopped
    expect(performance.now() - released).toBeLessThan(3_000)
    expect(berth.unexpected).toEqual([])
  })

  it("ends idle connections, unused ones and open event streams at once", async () => {
    const berth = await new Berth().start()
    const owner = await berth.signUp()
    const server = await owner.server((await owner.project()).id)
    const idle = await fetch(`${berth.url}/v1/health`)
    await idle.text()
    const unused = connect(Number(new URL(berth.url).port), "127.0.0.1")
    const ends = await Promise.all([
      opened(`${berth.url}/sse`, { authorization: `Bearer ${owner.token}` }),
      opened(`${berth.url}/v1/servers/${server.id}/logs`, {
        authorization: `Bearer ${owner.token}`,
        accept: "text/event-stream"
      })
    ])
    const started = performance.now()
    await berth.stop()
    expect(performance.now() - started).toBeLessThan(2_000)
    expect(await Promise.all(ends.map(({ closed }) => closed))).toEqual([true, true])
    expect(unused.destroyed || await new Promise((resolve) => unused.on("close", () => resolve(true)))).toBe(true)
    expect(berth.logged.filter((line) => line.includes("Stopping"))).toEqual([])
    expect(berth.unexpected).toEqual([])
  }, 30_000)
})
