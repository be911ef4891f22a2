import { request } from "node:http"
import { afterEach, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"

/** A sixteenth of the descriptors. */
const most = 64

interface Opened {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: () => Promise<string>
  readonly reset: () => void
}

describe("event streams that are open at the platform's own doors", () => {
  const berth = useBerth({ descriptors: most * 16 })
  const opened: Array<Opened> = []
  afterEach(() => opened.splice(0).forEach(({ reset }) => reset()))

  const open = ({ token }: Account, path: string, message?: object) =>
    new Promise<Opened>((resolve, reject) => {
      const req = request(berth.url + path, {
        agent: false,
        method: message === undefined ? "GET" : "POST",
        headers: {
          authorization: `Bearer ${token}`,
          accept: message === undefined ? "text/event-stream" : "application/json, text/event-stream",
          "content-type": "application/json"
        }
      }, (res) => {
        res.on("error", () => undefined)
        const one = {
          status: res.statusCode,
          headers: res.headers,
          text: async () => Buffer.concat(await res.toArray()).toString(),
          reset: () => req.destroy()
        }
        opened.push(one)
        resolve(one)
      })
      req.on("error", reject)
      req.end(message === undefined ? undefined : JSON.stringify(message))
    })
  const openAll = (account: Account, path: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => open(account, path)))
  const statusesOf = (all: ReadonlyArray<Opened>) => [...new Set(all.map(({ status }) => status))]

  const refusal = {
    code: "RATE_LIMITED",
    message:
      `Your account has ${most} MCP calls and event streams open at the platform itself, the most that are allowed ` +
      "at a time: end some, then try again"
  }

  it("are so many of an account, whichever door they are at, and another account's go on", async () => {
    const [account, other] = [await berth.signUp("enterprise"), await berth.signUp("enterprise")]
    const { id } = await account.server((await account.project()).id)
    const logs = `/v1/servers/${id}/logs`
    const streams = [...await openAll(account, "/sse", most / 2), ...await openAll(account, logs, most / 2)]
    expect(statusesOf(streams)).toEqual([200])
    for (const path of ["/sse", logs]) {
      const refused = await open(account, path)
      expect([refused.status, refused.headers["retry-after"], refused.headers["connection"]]).toEqual([
        429,
        "5",
        "close"
      ])
      expect(JSON.parse(await refused.text())).toEqual({ error: refusal })
    }
    const call = { jsonrpc: "2.0", id: "p", method: "ping" }
    const refused = await open(account, "/mcp", call)
    expect(refused.status).toBe(429)
    expect(JSON.parse(await refused.text())).toEqual({
      jsonrpc: "2.0",
      id: "p",
      error: { code: -32_000, message: refusal.message, data: { code: refusal.code } }
    })
    expect((await open(other, "/sse")).status).toBe(200)
    expect((await account.get(logs)).status, "a log that is read once takes no place").toBe(200)
    // One of each door, and calls that ended since.
    streams[0]?.reset()
    await expect.poll(async () => (await open(account, "/mcp", call)).status).toBe(200)
    await expect.poll(async () => (await open(account, "/mcp", call)).status).toBe(200)
    streams.at(-1)?.reset()
    await expect.poll(async () => statusesOf(await openAll(account, "/sse", 2)), { timeout: 5_000 }).toEqual([200])
    expect((await open(account, logs)).status).toBe(429)
  })

  it("give their places back when the platform ends them, and when their client leaves before their head", async () => {
    const account = await berth.signUp("enterprise")
    const server = await account.server((await account.project()).id)
    expect(statusesOf(await openAll(account, `/v1/servers/${server.id}/logs`, most))).toEqual([200])
    expect((await open(account, "/sse")).status).toBe(429)
    await account.delete(`/v1/servers/${server.id}`)
    await expect.poll(async () => (await open(account, "/sse")).status, { timeout: 5_000 }).toBe(200)
    await Promise.all(Array.from({ length: 2 * most }, (_, i) =>
      new Promise<void>((resolve) => {
        const req = request(`${berth.url}/sse`, { agent: false, headers: { authorization: `Bearer ${account.token}` } })
        req.on("error", () => undefined).on("close", resolve).end()
        setTimeout(() => req.destroy(), i % 20)
      })))
    opened.splice(0).forEach(({ reset }) => reset())
    await expect.poll(async () => {
      const all = await openAll(account, "/sse", most)
      opened.splice(0).forEach(({ reset }) => reset())
      return statusesOf(all)
    }, { timeout: 10_000, interval: 500 }).toEqual([200])
  })
})
