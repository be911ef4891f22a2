import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { traces } from "../program/support/traces.ts"
import { dataOf, type Server } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { startFakeRegistry } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { missingForApps } from "./support/app-image.ts"
import { versionAt, type Where } from "./support/prober.ts"
import { sessionImageIn } from "./support/session-image.ts"
import { makeUsed, type Used } from "./support/used.ts"

describeLong("a server whose files on the host were lost", () => {
  const home = temporaryDirectory("lost")
  const berth = new Berth()
  let registry: Awaited<ReturnType<typeof startFakeRegistry>>
  let used: Used
  let where: Where
  let only = ""

  beforeAll(async () => {
    registry = await startFakeRegistry()
    await berth.start({ machines: true, variables: { BERTH_HOME: home, ALLOWED_PRIVATE_HOSTS: registry.host } })
    const image = (note: string) => sessionImageIn(registry, note)
    used = await makeUsed(berth, home, await berth.signUp("enterprise"), image)
    only = await used.begin()
    where = await used.at(berth.url)
    await used.holds(only, where)
  })
  afterAll(async () => {
    await berth.stop()
    await registry.close()
  })

  const empty = (...path: ReadonlyArray<string>) => {
    const folder = join(home, ...path)
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true })
  }
  const restart = async () =>
    dataOf(await used.owner.request<{ data: Server }>("POST", `/v1/servers/${used.server.id}/restart`))

  it.each([
    ["its unpacked image", () => empty("rootfs")],
    ["its image, which its registry still has", () => [empty("rootfs"), empty("images", "blobs", "sha256")]],
    ["its machine's folder, while it runs", () => rmSync(join(home, "machines", only), { recursive: true })],
    ["all of them", () => [empty("rootfs"), empty("images", "blobs", "sha256"), empty("machines")]]
  ])("runs again by a restart without %s, in one machine", async (_what, lose) => {
    lose()
    expect(await restart()).toMatchObject({ status: "running" })
    expect(await versionAt(where)).toBe("1")
    await used.holds(only, where)
    // Its keeper, the launcher around it and what runs in it: those of one machine.
    expect(traces(home).processes.filter(({ command }) => command.includes("keeper.cjs")).length).toBeLessThanOrEqual(2)
  }, 60_000)

  it("is brought back by itself when its machine ends", async () => {
    empty("rootfs")
    empty("images", "blobs", "sha256")
    const running = traces(home).processes.filter(({ command }) => command.includes("app.pl"))
    expect(running).not.toEqual([])
    for (const { pid } of running) {
      // The end of one may end the others.
      try {
        process.kill(pid, "SIGKILL")
      } catch (error) {
        expect(error).toMatchObject({ code: "ESRCH" })
      }
    }
    await expect.poll(() => versionAt(where).catch(() => ""), { timeout: 30_000 }).toBe("1")
    await expect.poll(used.read, { timeout: 10_000 }).toMatchObject({ status: "running" })
  }, 60_000)
}, missingForApps)
