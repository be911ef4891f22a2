import { afterAll, beforeAll, expect, it } from "vitest"
import { Berth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { appImage, missingForApps } from "./support/app-image.ts"
import { type Where } from "./support/prober.ts"
import { sessionImage } from "./support/session-image.ts"
import { makeUsed, type Used } from "./support/used.ts"

describeLong("a version that answers its health once and dies, over one that serves", () => {
  const home = temporaryDirectory("brief")
  const berth = new Berth()
  let used: Used
  let where: Where

  beforeAll(async () => {
    await berth.start({ machines: true, variables: { BERTH_HOME: home, DRAIN_SECONDS: "2" } })
    // The odd ones live.
    const image = (note: string) => Number(note) % 2 === 1 ? sessionImage(note) : appImage("brief", { note })
    used = await makeUsed(berth, home, await berth.signUp("enterprise"), image)
    const first = await used.begin()
    where = await used.at(berth.url)
    await used.holds(first, where)
  }, 60_000)
  afterAll(() => berth.stop())

  it("fails, with its last words; no request does, and the one that serves goes on until another lives", async () => {
    const prober = used.probe([where])
    await used.begin()
    await used.settled()
    const [dead, first] = await used.deployments()
    expect(dead).toMatchObject({
      status: "failed",
      active: false,
      errorMessage: "checking: the machine answered /healthz and then exited with code 4: Fatal error: that was all"
    })
    expect(first).toMatchObject({ version: 1, status: "running", active: true })
    await expect.poll(used.records, { timeout: 10_000 }).toEqual([first!.id])
    await used.begin()
    await used.settled()
    const { counts, failures } = await prober.stop()
    expect(failures).toEqual([])
    expect(counts["new connection"]).toBeGreaterThan(10)
    expect((await used.deployments())[0]).toMatchObject({ version: 3, status: "running", active: true })
  }, 60_000)
}, missingForApps)
