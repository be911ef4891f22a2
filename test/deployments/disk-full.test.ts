import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { rmSync, statfsSync, writeFileSync } from "node:fs"
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

const missing = missingForApps ?? (process.getuid?.() === 0 ? undefined : "only root can mount a small disk")
const mebibyte = 1024 ** 2
/** Bytes of the next image's own layer: nearly as many in the registry as unpacked. */
const own = 12 * mebibyte

describeLong("a disk that is full while an image is pulled", () => {
  const home = temporaryDirectory("small")
  const berth = new Berth()
  let registry: Awaited<ReturnType<typeof startFakeRegistry>>
  let used: Used
  let where: Where

  const image = (note: string) =>
    sessionImageIn(registry, note, { extra: note === "1" ? note : randomBytes(own).toString("latin1") })
  /** Leaves so many bytes. */
  const fill = (left: number) => {
    const { bavail, bsize } = statfsSync(home)
    writeFileSync(join(home, "fill"), Buffer.alloc(Math.max(0, bavail * bsize - left), 1))
  }
  const stored = () =>
    execFileSync("find", [join(home, "images"), join(home, "rootfs"), "-maxdepth", "3"], { encoding: "utf8" })
      .trim().split("\n").sort()

  beforeAll(async () => {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=200m", "tmpfs", home])
    registry = await startFakeRegistry()
    const variables = { BERTH_HOME: home, DISK_RESERVE: "0", ALLOWED_PRIVATE_HOSTS: registry.host }
    await berth.start({ machines: true, variables })
    used = await makeUsed(berth, home, await berth.signUp("enterprise"), image)
    const first = await used.begin()
    where = await used.at(berth.url)
    await used.holds(first, where)
  }, 60_000)
  afterAll(async () => {
    await berth.stop()
    await registry.close()
    execFileSync("umount", ["-l", home])
  })

  // In its layer, and when that is there and is unpacked.
  it.each([4, 16])("%i MiB before its end, fails the deployment alone, and leaves nothing of it", async (left) => {
    const before = stored()
    const prober = used.probe([where])
    fill(left * mebibyte)
    await used.begin()
    await used.settled()
    const { failures } = await prober.stop()
    rmSync(join(home, "fill"))
    expect(failures).toEqual([])
    const [failed] = await used.deployments()
    expect(failed).toMatchObject({ status: "failed", active: false })
    expect(failed?.errorMessage).toMatch(
      /^(mirroring|creating): The platform's disk is full; try again once its operator/
    )
    const first = (await used.deployments()).at(-1)
    expect(first).toMatchObject({ version: 1, status: "running", active: true })
    expect(await used.read()).toMatchObject({ status: "running" })
    await expect.poll(used.records, { timeout: 10_000 }).toEqual([first!.id])
    await expect.poll(stored, { timeout: 10_000 }).toEqual(before)
  }, 60_000)

  it(
    "refuses a start with 503 and why, after which the server is as it was, and starts when there is room",
    async () => {
      const act = (what: string) =>
        used.owner.request<{ error: unknown }>("POST", `/v1/servers/${used.server.id}/${what}`)
      expect((await act("stop")).status).toBe(200)
      fill(0)
      const refused = await act("start")
      const { body } = await used.owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(
        `/v1/servers/${used.server.id}/logs`
      )
      const state = await used.read()
      rmSync(join(home, "fill"))
      expect(refused.status).toBe(503)
      expect(refused.body).toMatchObject({
        error: { message: expect.stringMatching(/^The platform's disk is full; try again/) }
      })
      expect(state).toMatchObject({ status: "stopped" })
      const messages = body.data.items.map(({ message }) => message)
      expect(messages).toContainEqual(
        expect.stringMatching(/^Started by request, and failed: The platform's disk is full/)
      )
      expect(messages.join("\n")).not.toContain("ENOSPC")
      expect(await act("start")).toMatchObject({ status: 200, body: { data: { status: "running" } } })
    },
    60_000
  )

  it("is no trouble any more when there is room", async () => {
    const imageUri = await Effect.runPromise(image("with room"))
    const done = await used.owner.post<{ data: Deployed }>(`/v1/servers/${used.server.id}/deploy`, { imageUri })
    expect(dataOf(done)).toMatchObject({ status: "running", active: true })
  }, 60_000)
}, missing)
