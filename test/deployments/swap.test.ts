import { SandboxStatesLive } from "#src/machines/sandbox/SandboxStates.ts"
import { Effect } from "effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeWhen, itLong, soak } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { missingForApps } from "./support/app-image.ts"
import { call, callIn, openSession, openStream, reply, startProber, versionAt, type Where } from "./support/prober.ts"
import { secondGateway } from "./support/second-gateway.ts"
import { sessionImage } from "./support/session-image.ts"
import { untilTrue } from "./support/wait.ts"

const drainSeconds = 6
const deploys = soak ? 50 : 2

describeWhen(missingForApps, "a server that is deployed while it is used", () => {
  const home = temporaryDirectory()
  const berth = useBerth({ machines: true, variables: { BERTH_HOME: home, DRAIN_SECONDS: String(drainSeconds) } })
  let owner: Account
  let second: Awaited<ReturnType<typeof secondGateway>>
  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    second = await secondGateway(berth, SandboxStatesLive, { BERTH_HOME: home })
  })
  afterAll(() => second?.stop())

  const deploy = async ({ id }: Server, note: string, stubborn = false) => {
    const imageUri = await Effect.runPromise(sessionImage(note, { stubborn }))
    const done = await owner.post<{ data: { id: string; status: string } }>(`/v1/servers/${id}/deploy`, { imageUri })
    expect(dataOf(done).status, done.text).toBe("running")
    return dataOf(done).id
  }
  const setUp = async () => {
    const server = await owner.server((await owner.project()).id)
    await deploy(server, "1")
    const { accessToken: token } = dataOf(
      await owner.request<{ data: { accessToken: string } }>("POST", `/v1/servers/${server.id}/test-token`)
    )
    const at = (base: string): Where => ({ url: `${base}/s/${server.slug}`, token })
    return { server, one: at(berth.url), other: at(second.url) }
  }
  const draining = async ({ id }: Server) =>
    (await runSql(
      berth.databaseUrl,
      "SELECT version FROM deployments WHERE server_id = $1 AND drains_until IS NOT NULL ORDER BY version",
      [id]
    )).map(({ version }) => version)
  const machinesOf = async ({ id }: Server) => {
    const records = readdirSync(join(home, "machines")).filter((name) => !name.startsWith("."))
    const own = await runSql(berth.databaseUrl, "SELECT id FROM deployments WHERE server_id = $1", [id])
    return own.filter((row) => records.includes(String(row["id"])))
  }

  it(`fails no request in ${deploys} deploys in a row, at two gateways`, async () => {
    const { one, other, server } = await setUp()
    const replaced = new Map<string, number>()
    const prober = startProber([one, other], { slowSeconds: 2, replacedAt: (version) => replaced.get(version) })
    for (let next = 2; next <= deploys + 1; next++) {
      // It was replaced at some moment before the answer.
      const before = Date.now()
      await deploy(server, String(next))
      replaced.set(String(next - 1), before)
    }
    // Whoever comes now comes to the last version.
    expect(await versionAt(one)).toBe(String(deploys + 1))
    await setTimeout(deploys < 50 ? 500 : 8_000)
    const { counts, failures, lost } = await prober.stop()
    console.log(JSON.stringify({ counts, lost: lost.length, shortest: Math.min(...lost) }))
    expect(failures).toEqual([])
    for (const kind of ["new connection", "kept connection", "health", "session", "slow call"]) {
      expect(counts[kind], kind).toBeGreaterThan(deploys)
    }
    // Sessions that were in use lasted until the limit.
    for (const millis of lost) expect(millis).toBeGreaterThan(drainSeconds * 1000 - 500)
    await owner.delete(`/v1/servers/${server.id}`)
  }, soak ? 3_600_000 : 600_000)

  it("is the new version to whoever was told that it runs, also where the database is slow to tell of it", async () => {
    const { one, server } = await setUp()
    const tells = (how: "DISABLE" | "ENABLE") =>
      runSql(berth.databaseUrl, `ALTER TABLE servers ${how} TRIGGER server_changed`)
    await tells("DISABLE")
    try {
      // The route to the old machine is in use until the end.
      let isOver = false
      const using = (async () => {
        while (!isOver) await versionAt(one)
      })()
      await deploy(server, "2")
      const [version] = await Promise.all([versionAt(one), using, isOver = true])
      expect(version).toBe("2")
    } finally {
      await tells("ENABLE")
    }
    await owner.delete(`/v1/servers/${server.id}`)
  }, 60_000)

  itLong("leaves sessions and streams where they are until the limit, and then they begin anew", async () => {
    const { one, other, server } = await setUp()
    const session = await openSession(one)
    const stream = await openStream(one, "/mcp", session)
    const legacy = await openStream(other, "/sse")
    const [path, query] = (await legacy.next()).split(`/s/${server.slug}`)[1]!.split("?")
    const messages = `${path}?${query}`
    const slow = callIn(other, await openSession(other), { seconds: 3 })
    await deploy(server, "2")
    const swapped = Date.now()
    expect([await versionAt(one), await versionAt(other)]).toEqual(["2", "2"])
    expect([await callIn(other, session), await callIn(one, session)]).toEqual(["1", "1"])
    // The older transport: the answer comes on the stream, wherever the message was sent.
    expect((await reply(one, messages, false, { rpc: call() })).status).toBe(202)
    expect(await legacy.next()).toContain("\"text\":\"1\"")
    expect(await slow).toBe("1")
    expect(await draining(server)).toEqual([1])
    await untilTrue(async () => (await callIn(one, session)) === undefined)
    expect(Date.now() - swapped).toBeGreaterThan(drainSeconds * 1000 - 1_000)
    expect(await callIn(other, session)).toBeUndefined()
    expect((await reply(other, messages, false, { rpc: call() })).status).toBe(404)
    expect([await stream.ended, await legacy.ended]).toEqual([true, true])
    expect(await draining(server)).toEqual([])
    await untilTrue(async () => (await machinesOf(server)).length === 1)
    await owner.delete(`/v1/servers/${server.id}`)
  }, 60_000)

  itLong(
    "goes on to the limit for nobody: with nothing open, and each session closed, the old machine goes",
    async () => {
      const { one, other, server } = await setUp()
      const sessions = [await openSession(one), await openSession(other)]
      for (const session of sessions) await reply(other, "/mcp", false, { method: "DELETE", session })
      const stream = await openStream(one, "/mcp", sessions[0])
      await deploy(server, "2")
      const swapped = Date.now()
      await setTimeout(3_000)
      expect(await draining(server), "a stream is open").toEqual([1])
      stream.close()
      await untilTrue(async () => (await draining(server)).length === 0)
      expect(Date.now() - swapped).toBeLessThan(drainSeconds * 1000 - 200)

      // Several at once, by a deployment and by a rollback, each with a session of its own.
      const second = await openSession(one)
      await deploy(server, "3")
      const third = await openSession(other)
      const back = await owner.post<{ data: { status: string } }>(`/v1/servers/${server.id}/rollback`, { version: 1 })
      expect(dataOf(back).status).toBe("running")
      expect(await draining(server)).toEqual([2, 3])
      expect([await callIn(other, second), await callIn(one, third), await versionAt(one)]).toEqual(["2", "3", "1"])
      // Whoever stops the server stops all of it, at once; its clients begin anew when it is back.
      await owner.request("POST", `/v1/servers/${server.id}/stop`)
      expect(await draining(server)).toEqual([])
      expect((await reply(one, "/mcp", false, { rpc: call(), session: second })).status).toBe(503)
      await untilTrue(async () => (await machinesOf(server)).length === 1)
      await owner.request("POST", `/v1/servers/${server.id}/start`)
      await untilTrue(async () => (await reply(one, "/healthz", false, { method: "GET" })).status === 200)
      expect([await callIn(one, second), await callIn(one, third)]).toEqual([undefined, undefined])
      await owner.delete(`/v1/servers/${server.id}`)
    },
    60_000
  )

  itLong("ends an old machine that ignores SIGTERM, ten seconds later, and fails no request", async () => {
    const { one, server } = await setUp()
    const stubborn = await deploy(server, "2", true)
    const prober = startProber([one], { slowSeconds: 1, replacedAt: () => 0 })
    const next = await deploy(server, "3")
    await untilTrue(async () => (await draining(server)).length === 0)
    const told = Date.now()
    expect((await machinesOf(server)).map(({ id }) => id)).toEqual(expect.arrayContaining([stubborn, next]))
    await untilTrue(async () => (await machinesOf(server)).length === 1)
    expect(Date.now() - told).toBeGreaterThan(8_000)
    expect((await machinesOf(server)).map(({ id }) => id)).toEqual([next])
    expect((await prober.stop()).failures).toEqual([])
    await owner.delete(`/v1/servers/${server.id}`)
  }, 60_000)
})
