import { Effect } from "effect"
import { setTimeout } from "node:timers/promises"
import { beforeAll, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { describeLong, soak } from "../support/needs.ts"
import { DatabaseProxy } from "../support/proxy.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { missingForApps } from "./support/app-image.ts"
import { type Where } from "./support/prober.ts"
import { sessionImage } from "./support/session-image.ts"
import { makeUsed, type Used } from "./support/used.ts"
import { untilTrue } from "./support/wait.ts"

const seconds = 5
const everyStage = ["mirroring", "checking", "draining"]
const sample = soak
  ? everyStage.flatMap((stage) => (["refuses", "is silent"] as const).map((how) => [how, stage] as const))
  : [["refuses", "checking"], ["is silent", "draining"]] as const

describeLong("a database that is away in the middle of traffic and of a deployment", () => {
  const home = temporaryDirectory("outage")
  const proxy = new DatabaseProxy()
  const berth = useBerth({
    machines: true,
    through: proxy.through,
    variables: { BERTH_HOME: home, DRAIN_SECONDS: "4" }
  })
  let used: Used
  let where: Where
  beforeAll(async () => {
    used = await makeUsed(berth, home, await berth.signUp("enterprise"), (note) => sessionImage(note, { pause: 1 }))
    const first = await used.begin()
    where = await used.at(berth.url)
    await used.holds(first, where)
  })

  it.each(sample)(
    `and %s for ${seconds} s, at "%s", fails no request, and the deployment goes on`,
    async (how, stage) => {
      const prober = used.probe([where])
      const id = await used.begin()
      await untilTrue(async () => {
        const [row] = await runSql(berth.databaseUrl, "SELECT stage FROM deployments WHERE id = $1", [id])
        return row?.["stage"] === stage
      })
      if (how === "refuses") await proxy.cut()
      else proxy.hold()
      await setTimeout(seconds * 1000)
      if (how === "refuses") await proxy.mend()
      else proxy.letGo()
      await used.holds(id, where)
      const { counts, failures } = await prober.stop()
      expect(failures).toEqual([])
      expect(counts["session"]).toBeGreaterThan(seconds * 5)
    },
    90_000
  )

  it("answers who waits for a deployment with how it ended", async () => {
    const server = await used.owner.server((await used.owner.project()).id)
    const imageUri = await Effect.runPromise(sessionImage("waited for", { pause: 2 }))
    const waiting = used.owner.post(`/v1/servers/${server.id}/deploy`, { imageUri })
    await untilTrue(async () => {
      const [row] = await runSql(berth.databaseUrl, "SELECT stage FROM deployments WHERE server_id = $1", [server.id])
      return row?.["stage"] === "checking"
    })
    await proxy.cut()
    await setTimeout(1_500)
    await proxy.mend()
    expect(await waiting).toMatchObject({ status: 201, body: { data: { status: "running" } } })
  }, 60_000)
}, missingForApps)
