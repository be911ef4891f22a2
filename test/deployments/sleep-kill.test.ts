import { afterAll, beforeAll, expect, it } from "vitest"
import { traces } from "../program/support/traces.ts"
import { describeLong } from "../support/needs.ts"
import { ageServer } from "./support/age-server.ts"
import { missingForApps } from "./support/app-image.ts"
import { versionAt } from "./support/prober.ts"
import { sessionImage } from "./support/session-image.ts"
import { rounds } from "./support/sleeper.ts"
import { makeKillable } from "./support/used.ts"
import { untilTrue } from "./support/wait.ts"

const fallenAsleep = "SELECT 1 FROM servers WHERE id = $1 AND asleep_at IS NOT NULL"

describeLong("a platform that is killed while a server falls asleep or wakes", () => {
  let used: Awaited<ReturnType<typeof makeKillable>>
  let only = ""
  beforeAll(async () => {
    used = await makeKillable((note) => sessionImage(note, { pause: 1.5 }), {
      fields: { autoStopSeconds: 60 },
      variables: { WAKE_SECONDS: "40" }
    })
    only = used.records()[0]!
  })
  afterAll(() => used?.clear())

  const running = () => traces(used.platform.home).machines
  /** Lets time pass until it holds, for the platform and for what it knows of the server's use. */
  const passTime = (holds: () => Promise<boolean>) => {
    used.platform.tell({ advance: 31_000 })
    return untilTrue(async () => {
      await ageServer(used.platform.databaseUrl, used.server.id)
      used.platform.tell({ hurry: rounds })
      return holds()
    })
  }
  const asleep = async () => (await used.read()).asleep && running().length === 0
  /** Kills the platform in the moment in which the server falls asleep: its machine runs on. */
  const killAsItFallsAsleep = async () => {
    let dead = false
    const killed = used.platform.killWhen(fallenAsleep, [used.server.id]).finally(() => void (dead = true))
    await passTime(() => Promise.resolve(dead))
    await killed
    expect(running()).toEqual([only])
    await used.platform.start()
    expect(await used.read()).toMatchObject({ asleep: true })
  }

  it("puts it to sleep after its next start", async () => {
    await killAsItFallsAsleep()
    await passTime(asleep)
    expect(await versionAt(used.where)).toBe("1")
    await used.holds(only, used.where)
  }, 60_000)

  it("wakes it for a request that comes while its machine runs on", async () => {
    await killAsItFallsAsleep()
    expect(await versionAt(used.where)).toBe("1")
    await used.holds(only, used.where)
  }, 60_000)

  it("answers a request that waited over the kill, with one machine", async () => {
    await passTime(asleep)
    const answer = versionAt(used.where)
    await untilTrue(() => running().length === 1)
    await used.platform.kill()
    await used.platform.start()
    expect(await answer).toBe("1")
    await used.holds(only, used.where)
  }, 60_000)

  it("answers a request that came while there was no platform", async () => {
    await passTime(asleep)
    await used.platform.kill()
    const answer = versionAt(used.where)
    await used.platform.start()
    expect(await answer).toBe("1")
    await used.holds(only, used.where)
  }, 60_000)
}, missingForApps)
