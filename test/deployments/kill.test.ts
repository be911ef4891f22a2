import { afterAll, beforeAll, expect, it } from "vitest"
import { describeWhen, sampled, soak } from "../support/needs.ts"
import { missingForApps } from "./support/app-image.ts"
import { sessionImage } from "./support/session-image.ts"
import { makeKillable } from "./support/used.ts"

const everyStage = ["resolving", "scanning", "mirroring", "creating", "starting", "checking", "swapping", "draining"]
/**
 * The kill comes right after the stage was written, or later in it. All of them with SOAK=1; test/program/kill.test.ts
 * kills the program itself.
 */
const sample = soak
  ? everyStage.flatMap((stage) => [0, 20, 150, 600].map((delay) => [stage, delay] as const))
  : sampled([["checking", 150], ["draining", 20]] as const, 2)

describeWhen(missingForApps, "a platform that is killed in the middle of a deployment", () => {
  let server: Awaited<ReturnType<typeof makeKillable>>
  beforeAll(async () => {
    server = await makeKillable((note) => sessionImage(note, { pause: 0.3 }), { variables: { DRAIN_SECONDS: "4" } })
  })
  afterAll(() => server?.clear())

  it.each(sample)(
    "has one machine and a true record afterwards, and failed no request (%s, %i ms)",
    async (stage, delay) => {
      const { begin, holds, platform, probe, where } = server
      const prober = probe([where])
      const later = everyStage.slice(everyStage.indexOf(stage))
      const id = await begin()
      await platform.killWhen("SELECT 1 FROM deployments WHERE id = $1 AND stage = ANY($2)", [
        id,
        [...later, "retired"]
      ], delay)
      await platform.start()
      await holds(id, where)
      const { counts, failures } = await prober.stop()
      expect(failures).toEqual([])
      for (const kind of ["new connection", "kept connection", "health", "session", "slow call"]) {
        expect(counts[kind], kind).toBeGreaterThan(5)
      }
    },
    soak ? 600_000 : 60_000
  )
})
