import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { Berth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { digestOf, messageOf, refusal, repository } from "./support/client.ts"

const MiB = 1024 ** 2
const missing = process.getuid?.() === 0 ? undefined : "only root can mount a small disk"

describeLong("a disk that is full while somebody pushes", () => {
  const home = temporaryDirectory("small")
  const berth = new Berth()
  beforeAll(async () => {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", home])
    await berth.start({ variables: { BERTH_HOME: home, DISK_RESERVE: "0" } })
  }, 60_000)
  afterAll(async () => {
    await berth.stop()
    execFileSync("umount", ["-l", home])
  })

  it("refuses the part that has no room, keeps those before it, and the push goes on once there is room", async () => {
    const client = await repository(await berth.signUp("enterprise"))
    const content = randomBytes(8 * MiB)
    const location = await client.begin()
    expect((await client.chunk(location, content.subarray(0, MiB), 0)).status).toBe(202)
    const idle = await client.begin()
    expect((await client.chunk(idle, content.subarray(0, MiB), 0)).status).toBe(202)
    await runSql(
      berth.databaseUrl,
      "UPDATE unfinished_uploads SET written_at = now() - interval '16 minutes' WHERE id = $1",
      [idle.split("/").at(-1)]
    )
    const { bavail, bsize } = statfsSync(home)
    writeFileSync(join(home, "fill"), Buffer.alloc(bavail * bsize - 2 * MiB, 1))
    const refused = await client.chunk(location, content.subarray(MiB), MiB)
    expect(refusal(refused)).toEqual([507, "DISK_FULL"])
    expect(messageOf(refused)).toMatch(/^The platform's disk is full/)
    expect((await client.ask("GET", location)).headers.get("range")).toBe(`0-${MiB - 1}`)
    // What a cut-off push of the account left has made room for the next try.
    expect((await client.ask("GET", idle)).status).toBe(404)
    rmSync(join(home, "fill"))
    expect((await client.chunk(location, content.subarray(MiB), MiB)).status).toBe(202)
    expect((await client.end(location, digestOf(content))).status).toBe(201)
    expect(readdirSync(join(home, "images", "uploads"))).toEqual([])
  }, 60_000)
}, missing)
