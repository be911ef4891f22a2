import { Effect, Exit, Scope } from "effect"
import { Agent, get } from "node:http"
import { afterAll, beforeAll, expect, it } from "vitest"
import { signUp } from "../support/account.ts"
import { freshDatabaseUrl } from "../support/Database.ts"
import { freePort, freshAddress, send } from "../support/http.ts"
import { describeLong, missingProgram } from "../support/needs.ts"
import { redisServer } from "../support/redis.ts"
import { build, clear, newPlace, type Place, type Program, run, sweep } from "./support/program.ts"

/** So many requests at once, a few hundred connections at a time; how many had which status. */
const burst = async (base: string, path: string, count: number, address: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 })
  const statuses: Record<number, number> = {}
  const one = () =>
    new Promise<void>((resolve, reject) => {
      get(`${base}${path}`, { agent, headers: { "x-forwarded-for": address } }, (answer) => {
        const { statusCode = 0 } = answer
        statuses[statusCode] = (statuses[statusCode] ?? 0) + 1
        answer.resume().on("end", resolve)
      }).on("error", reject)
    })
  await Promise.all(Array.from({ length: count }, one))
  agent.destroy()
  return statuses
}
const sumOf = (status: number, ...counts: ReadonlyArray<Readonly<Record<number, number>>>) =>
  counts.reduce((sum, each) => sum + (each[status] ?? 0), 0)

describeLong("two gateway processes with one Redis", () => {
  const scope = Effect.runSync(Scope.make())
  const programs: Array<Program> = []
  let place: Place
  let platform: string
  let one: string
  let two: string
  let path: string

  const start = async (at: Place, variables: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) => {
    const program = run(at, ["node", "dist/berth.js", "serve", ...args], variables)
    programs.unshift(program)
    await program.printed(/is ready/)
    return `http://127.0.0.1:${at.port}`
  }

  beforeAll(async () => {
    place = await newPlace()
    await build(place)
    const redisPort = await freePort()
    await Effect.runPromise(Scope.extend(redisServer(redisPort), scope))
    const databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
    const variables = {
      DATABASE_URL: databaseUrl,
      REDIS_URL: `redis://127.0.0.1:${redisPort}/0`,
      BASE_URL: `http://127.0.0.1:${place.port}`,
      TRUST_PROXY: "1"
    }
    platform = await start(place, variables, "--no-demo")
    const gateway = async () =>
      start({ ...place, port: await freePort() }, variables, "--role", "gateway", "--processes", "1")
    one = await gateway()
    two = await gateway()
    const owner = await signUp(
      { databaseUrl, request: (method, path, sent) => send(platform, method, path, sent) },
      "free"
    )
    const { slug } = await owner.server((await owner.project()).id)
    path = `/s/${slug}/mcp`
  }, 120_000)
  afterAll(async () => {
    for (const program of programs) await program.end("SIGTERM")
    sweep(place)
    clear(place)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }, 60_000)

  it("let exactly 1,000 of 10,000 requests through that they get at once from one address", async () => {
    const address = freshAddress()
    const began = performance.now()
    const counts = await Promise.all([one, two].map((base) => burst(base, path, 5_000, address)))
    expect(performance.now() - began, "in one window").toBeLessThan(60_000)
    expect([sumOf(401, ...counts), sumOf(429, ...counts)], JSON.stringify(counts)).toEqual([1_000, 9_000])
    for (const base of [one, two]) {
      const { headers, status } = await send(base, "GET", path, { headers: { "x-forwarded-for": address } })
      expect([status, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual([
        429,
        "1000",
        "0"
      ])
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0)
    }
    expect(sumOf(401, await burst(one, path, 1, freshAddress()))).toBe(1)
  }, 120_000)

  it("and the platform beside them count one address once: what it guesses at one is missing at the others", async () => {
    const headers = { "x-forwarded-for": freshAddress() }
    const remaining: Array<string | null> = []
    for (const [base, guess] of [[one, "/s/nobody/mcp"], [two, "/s/nobody/mcp"], [platform, "/v1/nothing"]] as const) {
      const answer = await send(base, "GET", guess, { headers })
      expect(answer.status).toBe(404)
      remaining.push(answer.headers.get("x-ratelimit-remaining"))
    }
    expect(remaining).toEqual(["99", "98", "97"])
  })
}, missingProgram("redis-server"))
