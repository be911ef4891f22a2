import { expect, it } from "vitest"
import { missingForApps } from "../deployments/support/app-image.ts"
import { callIn, openSession, startProber, versionAt } from "../deployments/support/prober.ts"
import { untilTrue } from "../deployments/support/wait.ts"
import { describeLong, soak } from "../support/needs.ts"
import { childrenOf, useGateways } from "./support/gateways.ts"

const deploys = soak ? 50 : 3
/** Longer than the test: no session ends meanwhile. */
const drainSeconds = soak ? 3_600 : 600

describeLong("deployments under two gateway processes and the platform", () => {
  const set = useGateways(drainSeconds)

  it(`fail no request, ${deploys} in a row; a session stays at its machine, whichever process is asked`, async () => {
    const { gateways, setUp } = set()
    const { deploy, direct, where } = await setUp("Probed")
    await untilTrue(async () => await versionAt(where).catch(String) === "1")
    expect(childrenOf(gateways.pid)).toHaveLength(2)
    const session = await openSession(where)
    const replaced = new Map<string, number>()
    const prober = startProber([where, direct], { slowSeconds: 1, replacedAt: (version) => replaced.get(version) })
    const answers: Array<string | undefined> = []
    for (let next = 2; next <= deploys + 1; next++) {
      const before = Date.now()
      await deploy()
      replaced.set(String(next - 1), before)
      // Each on a connection of its own, so that both processes are asked.
      for (let n = 0; n < 6; n++) answers.push(await callIn(n % 3 === 2 ? direct : where, session))
      expect(await versionAt(where)).toBe(String(next))
    }
    expect(new Set(answers)).toEqual(new Set(["1"]))
    const { counts, failures } = await prober.stop()
    expect(failures).toEqual([])
    expect(counts["new connection"]).toBeGreaterThan(20)
    expect(childrenOf(gateways.pid)).toHaveLength(2)
    expect(gateways.output()).not.toMatch(/ended by|failed unexpectedly/)
  }, soak ? 3_600_000 : 240_000)
}, missingForApps)
