import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { dataOf } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { startFakeRegistry } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { missingForApps } from "./support/app-image.ts"
import { type Where } from "./support/prober.ts"
import { sessionImageIn } from "./support/session-image.ts"
import { type Deployed, makeUsed, type Used } from "./support/used.ts"

describeLong("a registry that goes away half-way through a blob", () => {
  const home = temporaryDirectory("gone")
  const berth = new Berth()
  let registry: Awaited<ReturnType<typeof startFakeRegistry>>
  let used: Used
  let where: Where
  /** What comes of the next large blob, which breaks off after half of it, and then of all else. */
  let conduct: "well" | "breaks off once" | "goes" | "gone" = "well"

  const image = (note: string) => sessionImageIn(registry, note, { extra: note.repeat(500_000) })
  beforeAll(async () => {
    registry = await startFakeRegistry({
      intercept: ({ url = "" }, response) => {
        const [, digest] = /\/blobs\/(.+)$/.exec(url) ?? []
        const bytes = registry.blobs.get(digest ?? "")
        if (conduct === "gone") {
          response.destroy()
          return true
        }
        if (conduct === "well" || bytes === undefined || bytes.length < 1_000) return false
        conduct = conduct === "goes" ? "gone" : "well"
        response.writeHead(200, { "content-length": bytes.length })
        response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
        return true
      }
    })
    await berth.start({ machines: true, variables: { BERTH_HOME: home, ALLOWED_PRIVATE_HOSTS: registry.host } })
    used = await makeUsed(berth, home, await berth.signUp("enterprise"), image)
    const first = await used.begin()
    where = await used.at(berth.url)
    await used.holds(first, where)
  })
  afterAll(async () => {
    await berth.stop()
    await registry.close()
  })

  const stored = () =>
    execFileSync("find", [join(home, "images"), join(home, "rootfs"), "-maxdepth", "3"], { encoding: "utf8" })
      .trim().split("\n").sort()

  it("fails the deployment with what is wrong, leaves nothing of it, and what serves goes on", async () => {
    const before = stored()
    const prober = used.probe([where])
    conduct = "goes"
    const id = await used.begin()
    await used.settled()
    const { failures } = await prober.stop()
    expect(failures).toEqual([])
    const [failed, first] = await used.deployments()
    expect(failed).toMatchObject({ id, status: "failed", active: false })
    expect(failed?.errorMessage).toMatch(new RegExp(`^mirroring: .*${registry.host}`))
    expect(first).toMatchObject({ version: 1, status: "running", active: true })
    expect(await used.read()).toMatchObject({ status: "running" })
    expect(used.records()).toEqual([first!.id])
    await expect.poll(stored, { timeout: 10_000 }).toEqual(before)
  }, 60_000)

  it.each(["well", "breaks off once"] as const)(
    "is asked again: where it %s, the next deployment serves",
    async (next) => {
      conduct = next
      const path = `/v1/servers/${used.server.id}/deploy`
      const imageUri = await Effect.runPromise(image(`back, ${next}`))
      expect(dataOf(await used.owner.post<{ data: Deployed }>(path, { imageUri }))).toMatchObject({ status: "running" })
      expect(conduct).toBe("well")
    },
    60_000
  )
}, missingForApps)
