import { readlinkSync } from "node:fs"
import { afterAll, beforeAll, expect, it } from "vitest"
import { traces } from "../program/support/traces.ts"
import { describeLong, soak } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { appImage, missingForApps } from "./support/app-image.ts"
import { holdWrites } from "./support/held-write.ts"
import { sessionImage } from "./support/session-image.ts"
import { makeKillable } from "./support/used.ts"

const stages = ["resolving", "scanning", "mirroring", "creating", "starting", "checking", "swapping", "draining"]
const notWritten = "is not written"
const begins = "is written, and nothing of it begun"
const isDone = "is done, and the journal does not have its result"

/** Parts of the workflow that have a result of their own, and the workflow as a whole. */
const parts = [...stages.toSpliced(3, 0, "pushing"), "retiring", "run"]

const boundaries = [
  ...[...stages, "retired"].flatMap((stage) => [
    [stage, notWritten] as const,
    // The swap is one transaction, whose commit a dead platform never sends.
    ...(stage === "swapping" ? [] : [[stage, begins] as const])
  ]),
  ...parts.map((part) => [part, isDone] as const)
]
/** All of them with SOAK=1. */
const sample = soak
  ? boundaries
  : [["creating", begins], ["creating", isDone], ["swapping", notWritten], ["swapping", isDone]] as const

/** Milliseconds for one case; whoever runs all of them has time. */
const patience = soak ? 600_000 : 120_000

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

describeLong("a platform that is killed exactly between two writes of a deployment", () => {
  let server: Awaited<ReturnType<typeof makeKillable>>
  let writes: Awaited<ReturnType<typeof holdWrites>>
  let before: ReturnType<typeof left>
  let dies = false
  beforeAll(async () => {
    const image = (note: string) => dies ? appImage("brief", { note }) : sessionImage(note, { pause: 0.3 })
    server = await makeKillable(image, { variables: { DRAIN_SECONDS: "2" } })
    writes = await holdWrites(server.platform.databaseUrl)
    before = left(server.platform.home)
  }, patience)
  afterAll(async () => {
    await writes?.end()
    await server?.clear()
  })

  const stageOf = async (id: string) =>
    (await runSql(server.platform.databaseUrl, "SELECT stage FROM deployments WHERE id = $1", [id]))[0]?.["stage"]
  /** Kills it while the write waits; the answer is the deployment's stage then. */
  const killAt = async (id: string, written: boolean) => {
    await writes.reached()
    const last = await stageOf(id)
    await server.platform.kill()
    if (written) await writes.letThrough()
    else await writes.undo()
    return last
  }

  it.each(sample)(
    "has one machine, nothing left over and a true record afterwards, and failed no request (\"%s\" %s)",
    async (name, how) => {
      const { begin, holds, platform, probe, where } = server
      const prober = probe([where])
      await writes.hold(how === isDone ? "result" : "stage", name)
      const id = await begin()
      const last = await killAt(id, how === begins)
      if (how !== isDone) expect(last).not.toBe(name)
      else {
        // The stage that was done last, without a result; those before it have theirs.
        if (stages.includes(name)) expect(last).toBe(name)
        expect(await writes.results(id)).toEqual(parts.slice(0, parts.indexOf(name)))
      }
      expect(await stageOf(id)).toBe(how === begins ? name : last)
      await platform.start()
      await holds(id, where)
      const { counts, failures } = await prober.stop()
      expect(failures).toEqual([])
      expect(counts["new connection"]).toBeGreaterThan(5)
      await expect.poll(() => left(platform.home), { timeout: 20_000, interval: 200 }).toEqual(before)
    },
    patience
  )

  // The last ones, since a version that failed is no record of one that runs.
  it.each(soak ? ["checking", "failing"] : ["failing"])(
    "fails a version that dies once, with its reason, and leaves the one that serves alone (\"%s\" is done)",
    async (part) => {
      const { begin, deployments, platform, probe, settled, where } = server
      const [serving] = (await deployments()).filter(({ active }) => active)
      dies = true
      const prober = probe([where])
      await writes.hold("result", part)
      const id = await begin()
      await killAt(id, false)
      await platform.start()
      await settled()
      expect((await deployments()).find((one) => one.id === id)).toMatchObject({
        status: "failed",
        active: false,
        errorMessage: expect.stringMatching(/^checking: .*Fatal error: that was all/)
      })
      expect((await deployments()).filter(({ active }) => active)).toEqual([serving])
      const { failures } = await prober.stop()
      expect(failures).toEqual([])
      await expect.poll(() => left(platform.home), { timeout: 20_000, interval: 200 }).toEqual(before)
    },
    patience
  )
}, missingForApps)
