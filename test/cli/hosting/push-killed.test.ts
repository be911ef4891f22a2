import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { stdioShimBundle } from "../../ready-server/bundle.ts"
import { type Account } from "../../support/account.ts"
import { useBerth } from "../../support/Berth.ts"
import { type PassedRequest, startBreakable } from "../../support/breakable.ts"
import { describeLong } from "../../support/needs.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { berthCli } from "../mcp/run.ts"

const MiB = 1024 ** 2
const root = join(import.meta.dirname, "../../..")

describeLong("berth deploy with a folder, whose process is killed in the middle of its push", () => {
  const berth = useBerth()
  const home = temporaryDirectory("cli")
  const project = join(temporaryDirectory("project"), "hello")
  let owner: Account
  let proxy: Awaited<ReturnType<typeof startBreakable>>

  const args = ["deploy", project, "--no-wait"]
  const env = () => ({
    XDG_CONFIG_HOME: home,
    XDG_CACHE_HOME: home,
    BERTH_URL: `http://${proxy.host}`,
    BERTH_TOKEN: owner.token
  })
  const isChunk = ({ method, path }: PassedRequest) => method === "PATCH" && path.includes("/blobs/uploads/")
  const uploadOf = ({ path }: PassedRequest) => path.split("?", 1)[0]

  beforeAll(async () => {
    await stdioShimBundle()
    owner = await berth.signUp("pro")
    proxy = await startBreakable(new URL(berth.url).host)
    mkdirSync(project)
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "hello", scripts: { start: "node app.cjs" } }))
    writeFileSync(join(project, "app.cjs"), "require(\"node:http\").createServer().listen(process.env.PORT)\n")
  }, 60_000)
  afterAll(() => proxy.close())

  it("goes on where that ended, and sends nothing again but what was on its way", async () => {
    // What can't be compressed makes a layer of its size, which no other layer and no piece of one has.
    writeFileSync(join(project, "data.bin"), randomBytes(6 * MiB))
    const isOfData = ({ size }: PassedRequest) => size >= 6 * MiB && size < 6.1 * MiB
    let slowed: PassedRequest | undefined
    proxy.breaks((request) => {
      if (slowed !== undefined || !isChunk(request) || !isOfData(request)) return undefined
      slowed = request
      return { slow: 5 }
    })
    const child = spawn(process.execPath, ["--import", "tsx", join(root, "src/main.ts"), ...args], {
      cwd: root,
      env: { PATH: process.env["PATH"], HOME: home, ...env() },
      stdio: "ignore"
    })
    const killed = once(child, "exit")
    await expect.poll(() => slowed?.bytes ?? 0, { timeout: 60_000, interval: 5 }).toBeGreaterThan(2 * MiB)
    child.kill("SIGKILL")
    expect(await killed).toEqual([null, "SIGKILL"])

    proxy.breaks()
    const { code, err } = await berthCli(args, env())
    expect([code, err]).toEqual([0, expect.stringContaining("Pushed: ")])
    const rest = proxy.seen.filter(isChunk).filter((request) => uploadOf(request) === uploadOf(slowed!))
    const sent = rest.reduce((sum, { bytes }) => sum + bytes, 0)
    // It went on with the same upload, and that lacked no more than what the kill had cut off.
    expect(rest.length).toBeGreaterThan(0)
    expect(sent).toBeLessThan(slowed!.size - MiB)
  }, 120_000)
})
