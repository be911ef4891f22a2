import { request as open } from "node:http"
import { setTimeout } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { Berth } from "../support/Berth.ts"
import { holdLock } from "../support/sql.ts"

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
    const stopped = berth.stop()
    await setTimeout(200)
    await expect(owner.get("/v1/projects")).rejects.toMatchObject({ code: "ECONNREFUSED" })
    await release()
    const answer = await inFlight
    expect([answer.status, answer.body]).toMatchObject([201, { data: { name: "In flight" } }])
    const released = performance.now()
    await stopped
    expect(performance.now() - released).toBeLessThan(3_000)
    expect(berth.unexpected).toEqual([])
  })

  it("with idle connections and open event streams does not hang", async () => {
    const berth = await new Berth().start()
    const owner = await berth.signUp()
    const idle = await fetch(`${berth.url}/v1/health`)
    await idle.text()
    const stream = open(`${berth.url}/sse`, { headers: { authorization: `Bearer ${owner.token}` } }).end()
    const closed = new Promise<string>((resolve) => {
      stream.on("response", (response) => {
        response.on("data", () => undefined).on("close", () => resolve("closed")).on("error", () => resolve("closed"))
      })
    })
    await setTimeout(200)
    const started = performance.now()
    await berth.stop()
    expect(await closed).toBe("closed")
    expect(performance.now() - started).toBeLessThan(12_000)
    expect(berth.unexpected).toEqual([])
  }, 30_000)
})
