import { SandboxStatesLive } from "#src/machines/sandbox/SandboxStates.ts"
import { afterAll, beforeAll, expect, it } from "vitest"
import { traces } from "../program/support/traces.ts"
import { dataOf, type Server } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { missingForApps } from "./support/app-image.ts"
import { callIn, openSession, versionAt, type Where } from "./support/prober.ts"
import { secondGateway } from "./support/second-gateway.ts"
import { sessionImage } from "./support/session-image.ts"
import { makeUsed, type Used } from "./support/used.ts"

describeLong("a server that its owner restarts, or that crashes", () => {
  const home = temporaryDirectory("restarted")
  const berth = new Berth()
  let used: Used
  let places: ReadonlyArray<Where>
  let gateway: Awaited<ReturnType<typeof secondGateway>>
  beforeAll(async () => {
    await berth.start({ machines: true, variables: { BERTH_HOME: home } })
    gateway = await secondGateway(berth, SandboxStatesLive, { BERTH_HOME: home })
    used = await makeUsed(berth, home, await berth.signUp("enterprise"), (note) => sessionImage(note, { pause: 1 }))
    const first = await used.begin()
    places = [await used.at(berth.url), await used.at(gateway.url)]
    await used.holds(first, places[0]!)
  })
  afterAll(async () => {
    await gateway.stop()
    await berth.stop()
  })

  it("lets requests wait meanwhile, at every gateway, and fails none; sessions of before are gone", async () => {
    const session = await openSession(places[0]!)
    let isOver = false
    let answered = 0
    const failures: Array<string> = []
    const prober = places.map(async (where) => {
      while (!isOver) await versionAt(where).then(() => void answered++, (error) => void failures.push(String(error)))
    })
    for (let times = 0; times < 2; times++) {
      const path = `/v1/servers/${used.server.id}/restart`
      expect(dataOf(await used.owner.request<{ data: Server }>("POST", path))).toMatchObject({ status: "running" })
    }
    isOver = true
    await Promise.all(prober)
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(2)
    for (const where of places) expect(await callIn(where, session)).toBeUndefined()
  }, 60_000)

  it("answers those that come when its machine has been killed, once it is started again", async () => {
    for (let times = 0; times < 2; times++) {
      const session = await openSession(places[0]!)
      // The others are its children, one for each connection.
      const [server] = traces(home).processes.filter(({ command }) => command.includes("/app.pl"))
        .toSorted((one, other) => one.pid - other.pid)
      process.kill(server!.pid, "SIGKILL")
      await expect.poll(() => traces(home).processes.map(({ pid }) => pid)).not.toContain(server!.pid)
      expect(await Promise.all(places.map((where) => versionAt(where)))).toEqual(places.map(() => used.version()))
      expect(await Promise.all(places.map((where) => callIn(where, session)))).toEqual(places.map(() => undefined))
    }
    const { body } = await used.owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(
      `/v1/servers/${used.server.id}/logs`
    )
    expect(body.data.items.map(({ message }) => message).join()).toContain("attempt 2 of 5")
  }, 60_000)
}, missingForApps)
