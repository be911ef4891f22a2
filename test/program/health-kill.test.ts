import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { missingForApps } from "../deployments/support/app-image.ts"
import { moodyImage } from "../deployments/support/moody-image.ts"
import { type Account, dataOf, signUp } from "../support/account.ts"
import { type Business, businesses } from "../support/business.ts"
import { freshDatabaseUrl } from "../support/Database.ts"
import { send } from "../support/http.ts"
import { describeLong } from "../support/needs.ts"
import { served } from "../support/served.ts"
import { build, clear, newPlace, type Place, run, sweep } from "./support/program.ts"

interface Health {
  readonly score: number
  readonly probes: number
  readonly failures: number
}

const menu = "name,price\nTomato Soup,6.50\n"

describeLong("a platform that is killed while it probes", () => {
  const scope = Effect.runSync(Scope.make())
  let place: Place
  let databaseUrl: string
  beforeAll(async () => {
    place = await newPlace()
    await build(place)
    databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
  }, 120_000)
  afterAll(async () => {
    sweep(place)
    clear(place)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const start = async () => {
    const program = run(place, ["node", "dist/berth.js", "serve", "--no-demo"], {
      DATABASE_URL: databaseUrl,
      TRUST_PROXY: "1",
      HEALTH_PROBE_SECONDS: "3"
    })
    await program.printed(/Berth is ready/)
    return program
  }
  const request: Account["berth"]["request"] = (method, path, sent) =>
    send(`http://127.0.0.1:${place.port}`, method, path, sent)

  const publish = async (owner: Account, name: string) =>
    dataOf(
      await owner.post<{ data: { business: Business; serverId: string } }>(`${businesses}/publish`, {
        filename: "menu.csv",
        content: menu,
        name
      })
    )
  const headerOf = async (listingId: string) =>
    Number((await request("GET", `/api/v1/hub/listings/${listingId}/skill.md`)).headers.get("x-hub-health-score"))

  it("counts no server's fault that was none, and the faults that were", async () => {
    let program = await start()
    const owner = await signUp({ databaseUrl, request }, "enterprise")
    const healthOf = async (id: string) => {
      const { health } = dataOf(await owner.get<{ data: { health: Health } }>(`${businesses}/${id}`))
      return health
    }
    const published = await Promise.all(["Ladle", "Spoon"].map((name) => publish(owner, name)))
    for (const { business } of published) expect(await headerOf(business.listingId)).toBe(100)
    const killAfter = async (millis: number) => {
      await new Promise((resolve) => setTimeout(resolve, millis))
      await program.end("SIGKILL")
      program = await start()
    }
    // Once while all are well: a start waits for one that is ill.
    await killAfter(700)

    const ill = await served(owner, "ill")
    // It speaks no MCP, which its health is not about.
    await owner.patch(`/v1/servers/${ill.server.id}`, { requireMcp: false })
    await owner.post(`/v1/servers/${ill.server.id}/deploy`, { imageUri: await Effect.runPromise(moodyImage()) })
    expect(await headerOf(ill.business.listingId)).toBe(100)
    const { accessToken } = dataOf(
      await owner.request<{ data: { accessToken: string } }>("POST", `/v1/servers/${ill.server.id}/test-token`)
    )
    expect((await request("GET", "/s/ill/be/broken", { token: accessToken })).status).toBe(200)
    await killAfter(3_200)

    const stayWell = async ({ business }: (typeof published)[number]) => {
      const { probes } = await healthOf(business.id)
      await expect.poll(async () => (await healthOf(business.id)).probes, { timeout: 30_000 }).toBeGreaterThan(probes)
      expect(await healthOf(business.id)).toMatchObject({ score: 100, failures: 0 })
      expect(await headerOf(business.listingId)).toBe(100)
    }
    // A round has all of them.
    await Promise.all(published.map(stayWell))
    await expect.poll(() => headerOf(ill.business.listingId), { timeout: 30_000 }).toBeLessThan(60)
    const { failures, probes, score } = await healthOf(ill.business.id)
    expect([score, failures]).toEqual([Math.round(100 * (probes - failures) / probes), probes - 1])

    // One sleeps; then the platform ends in order, which stops all machines, and comes back.
    const [sleeping] = published
    await owner.request("POST", `/v1/servers/${sleeping?.serverId}/stop`)
    const before = await healthOf(sleeping?.business.id ?? "")
    expect(await program.end("SIGTERM")).toEqual({ code: 0, signal: null })
    program = await start()
    await Promise.all(published.slice(1).map(stayWell))
    expect(await healthOf(sleeping?.business.id ?? "")).toEqual(before)
    const { body } = await owner.get<{ data: { status: string } }>(`/v1/servers/${sleeping?.serverId}`)
    expect(body.data.status).toBe("stopped")
    expect(await program.end("SIGTERM")).toEqual({ code: 0, signal: null })
  }, 240_000)
}, missingForApps)
