import { readlinkSync } from "node:fs"
import { afterAll, beforeAll, expect, it } from "vitest"
import { traces } from "../program/support/traces.ts"
import { describeLong, soak } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { missingForApps } from "./support/app-image.ts"
import { holdStages } from "./support/held-stage.ts"
import { sessionImage } from "./support/session-image.ts"
import { makeKillable } from "./support/used.ts"

const written = ["resolving", "scanning", "mirroring", "creating", "starting", "checking", "swapping", "draining"]
const boundaries = [...written, "retired"].flatMap((stage) => [
  [stage, "is not written"] as const,
  // The swap is one transaction, whose commit a dead platform never sends.
  ...(stage === "swapping" ? [] : [[stage, "is written, and nothing of it begun"] as const])
])
/** All of them with SOAK=1. */
const sample = soak
  ? boundaries
  : boundaries.filter(([stage, how]) => stage === "swapping" || (stage === "creating" && how !== "is not written"))

/** Mount namespaces of a home's machines. */
const namespaces = (home: string) =>
  new Set(
    traces(home).processes.flatMap(({ pid }) => {
      try {
        return [readlinkSync(`/proc/${pid}/ns/mnt`)]
      } catch {
        return []
      }
    })
  ).size

/** How much of a machine there is. Processes of its connections come and go. */
const left = (home: string) => {
  const { cgroups, machines, mounts, processes } = traces(home)
  const keepers = processes.filter(({ command }) => command.includes("keeper.cjs")).length
  return {
    cgroups: cgroups.length,
    keepers,
    machines: machines.length,
    mounts: mounts.length,
    namespaces: namespaces(home)
  }
}

describeLong("a platform that is killed exactly between two stages of a deployment", () => {
  let server: Awaited<ReturnType<typeof makeKillable>>
  let stages: Awaited<ReturnType<typeof holdStages>>
  let before: ReturnType<typeof left>
  beforeAll(async () => {
    server = await makeKillable((note) => sessionImage(note, { pause: 0.3 }), { variables: { DRAIN_SECONDS: "2" } })
    stages = await holdStages(server.platform.databaseUrl)
    before = left(server.platform.home)
  }, 120_000)
  afterAll(async () => {
    await stages?.end()
    await server?.clear()
  })

  it.each(sample)(
    "has one machine, nothing left over and a true record afterwards, and failed no request (\"%s\" %s)",
    async (stage, how) => {
      const { begin, holds, platform, probe, where } = server
      const stored = async (id: string) =>
        (await runSql(platform.databaseUrl, "SELECT stage FROM deployments WHERE id = $1", [id]))[0]?.["stage"]
      const prober = probe([where])
      await stages.hold(stage)
      const id = await begin()
      await stages.reached()
      const last = await stored(id)
      await platform.kill()
      expect(last).not.toBe(stage)
      if (how === "is not written") await stages.undo()
      else await stages.letThrough()
      expect(await stored(id)).toBe(how === "is not written" ? last : stage)
      await platform.start()
      await holds(id, where)
      const { counts, failures } = await prober.stop()
      expect(failures).toEqual([])
      expect(counts["new connection"]).toBeGreaterThan(5)
      await expect.poll(() => left(platform.home), { timeout: 20_000, interval: 200 }).toEqual(before)
    },
    120_000
  )
}, missingForApps)
