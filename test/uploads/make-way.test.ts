import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { statfsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { Berth } from "../support/Berth.ts"
import { describeWhen } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { messageOf, refusal, type RegistryClient, repository } from "./support/client.ts"

const MiB = 1024 ** 2
const missing = process.getuid?.() === 0 ? undefined : "only root can mount a small disk"

describeWhen(missing, "a push where less is free than DISK_RESERVE", () => {
  const home = temporaryDirectory("small")
  const berth = new Berth()
  beforeAll(async () => {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=48m", "tmpfs", home])
    await berth.start({ variables: { BERTH_HOME: home, DISK_RESERVE: "16mb" } })
  }, 60_000)
  afterAll(async () => {
    await berth.stop()
    execFileSync("umount", ["-l", home])
  })

  /** An upload of four megabytes that nobody has gone on with for so many minutes. */
  const leave = async (client: RegistryClient, minutes: number) => {
    const location = await client.begin()
    expect((await client.chunk(location, randomBytes(4 * MiB), 0)).status).toBe(202)
    await runSql(
      berth.databaseUrl,
      "UPDATE unfinished_uploads SET written_at = now() - $2 * interval '1 minute' WHERE id = $1",
      [location.split("/").at(-1), minutes]
    )
    return location
  }
  /** Fills the disk until so much is free. */
  const fillUpTo = (free: number) => {
    const { bavail, bsize } = statfsSync(home)
    writeFileSync(join(home, `fill-${free}`), Buffer.alloc(bavail * bsize - free, 1))
  }

  it("ends the account's idle uploads, the oldest first and no more than are needed, and then is refused", async () => {
    const client = await repository(await berth.signUp("enterprise"))
    const other = await repository(await berth.signUp("enterprise"))
    const [theirs, second, first, third, going] = [
      await leave(other, 60),
      await leave(client, 30),
      await leave(client, 40),
      await leave(client, 20),
      await leave(client, 1)
    ]
    const left = async () => {
      const asked = [[other, theirs], [client, first], [client, second], [client, third], [client, going]] as const
      return Promise.all(asked.map(async ([one, at]) => (await one.ask("GET", at)).status))
    }
    fillUpTo(10 * MiB)
    // Two make room for sixteen megabytes and more.
    expect((await client.chunk(going, randomBytes(MiB), 4 * MiB)).status).toBe(202)
    expect(await left()).toEqual([204, 404, 404, 204, 204])
    fillUpTo(8 * MiB)
    const refused = await client.chunk(going, randomBytes(MiB), 5 * MiB)
    expect(refusal(refused)).toEqual([507, "DISK_FULL"])
    expect(messageOf(refused)).toContain("low on disk space")
    expect(await left()).toEqual([204, 404, 404, 404, 204])
    expect((await client.ask("GET", going)).headers.get("range")).toBe(`0-${5 * MiB - 1}`)
  }, 30_000)
})
