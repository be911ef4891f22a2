import { closeSync, openSync } from "node:fs"
import { Agent, type IncomingMessage, request } from "node:http"
import { afterAll, describe, expect, it } from "vitest"
import { type Sleeper, sleeper } from "../deployments/support/sleeper.ts"
import { useBerth } from "../support/Berth.ts"
import { secretKey } from "../support/mint.ts"
import { healthy, StartableMachines } from "../support/startable-machines.ts"

/** A sixteenth of the descriptors. */
const most = 64
const descriptors = most * 16

describe("requests that are open at hosted servers", () => {
  const machines = new StartableMachines()
  machines.conduct = {
    delay: 0,
    listener: (req, res) => req.url === "/hold" ? void res.writeHead(200).flushHeaders() : healthy(req, res)
  }
  const berth = useBerth({ machines: machines.layer, variables: secretKey, descriptors })
  afterAll(machines.clear)

  const hold = ({ server, token }: Sleeper, signal: AbortSignal) =>
    fetch(`${berth.url}/s/${server.slug}/hold`, { headers: { authorization: `Bearer ${token}` }, signal })

  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  afterAll(() => agent.destroy())
  /** A call as a client repeats it: on one connection, whose heads are soon known. */
  const repeat = ({ server, token }: Sleeper) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, "content-length": "2" }
      request(`${berth.url}/s/${server.slug}/`, { agent, headers, method: "POST" }, (res) => resolve(res.resume()))
        .on("error", reject).end("{}")
    })

  it("are so many of an account, whose next is told to come again; another's go on", async () => {
    const [one, other] = [await sleeper(berth, machines), await sleeper(berth, machines)]
    for (let time = 0; time < 3; time++) expect((await repeat(one)).statusCode).toBe(200)
    const ends = Array.from({ length: most }, () => new AbortController())
    const held = await Promise.all(ends.map(({ signal }) => hold(one, signal)))
    expect(new Set(held.map(({ status }) => status))).toEqual(new Set([200]))
    const refused = await one.ask()
    expect([refused.status, refused.headers.get("retry-after"), refused.body]).toEqual([429, "5", {
      error: {
        code: "RATE_LIMITED",
        message: `Your account has ${most} requests and event streams open at hosted servers, the most that are ` +
          "allowed at a time: end some, then try again"
      }
    }])
    expect((await repeat(one)).statusCode).toBe(429)
    expect((await other.ask()).status).toBe(200)
    ends[0]?.abort()
    await expect.poll(async () => (await one.ask()).status).toBe(200)
    for (const end of ends) end.abort()
  })

  it("are refused while four fifths of the descriptors are in use; health and log-in answer", async () => {
    const one = await sleeper(berth, machines)
    const { email, password } = one.owner
    const open = Array.from({ length: descriptors * 0.8 }, () => openSync("/dev/null", "r"))
    try {
      await expect.poll(async () => (await one.ask()).status, { timeout: 5_000 }).toBe(503)
      const refused = await one.ask()
      expect([refused.headers.get("retry-after"), refused.body]).toEqual(["5", {
        error: {
          code: "SERVICE_UNAVAILABLE",
          message: "The platform has nearly as many connections open as it may have; try again shortly"
        }
      }])
      expect((await one.ask("/", { token: undefined })).status, "before a token is looked at").toBe(503)
      expect((await berth.request("GET", "/v1/health")).status).toBe(200)
      expect((await berth.request("POST", "/v1/auth/login", { body: { email, password } })).status).toBe(200)
    } finally {
      for (const each of open) closeSync(each)
    }
    await expect.poll(async () => (await one.ask()).status, { timeout: 5_000 }).toBe(200)
  })
})
