import { SandboxStatesLive } from "#src/machines/sandbox/SandboxStates.ts"
import { afterAll, beforeAll, expect, it } from "vitest"
import { dataOf, type Server } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { missingForApps } from "./support/app-image.ts"
import { callIn, openSession, versionAt, type Where } from "./support/prober.ts"
import { secondGateway } from "./support/second-gateway.ts"
import { sessionImage } from "./support/session-image.ts"
import { makeUsed, type Used } from "./support/used.ts"

describeLong("a server that its owner restarts", () => {
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
}, missingForApps)
