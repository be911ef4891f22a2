import { execFileSync } from "node:child_process"
import { readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { stdioShimBundle } from "../ready-server/bundle.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { type NpmRegistry, startNpmRegistry } from "./support/npm-registry.ts"
import { stdioServer } from "./support/stdio-server.ts"

const missing = process.platform === "linux" && process.getuid?.() === 0
  ? undefined
  : "only root can mount a small disk, on Linux"

const mebibyte = 1024 ** 2

describeLong("a disk that is full while a package is installed", () => {
  const home = temporaryDirectory("small")
  const berth = new Berth()
  let registry: NpmRegistry
  let owner: Account
  let server: Server

  /** Leaves so many bytes. */
  const fill = (left: number) => {
    rmSync(join(home, "fill"), { force: true })
    const { bavail, bsize } = statfsSync(home)
    writeFileSync(join(home, "fill"), Buffer.alloc(Math.max(0, bavail * bsize - left), 1))
  }
  const deploy = async (name: string) =>
    dataOf(
      await owner.post<{ data: { status: string; errorMessage?: string } }>(`/v1/servers/${server.id}/deploy`, {
        imageUri: `npm:${name}`
      })
    )
  const installing = () => readdirSync(join(home, "packages")).filter((name) => name.startsWith(".tmp"))

  beforeAll(async () => {
    await stdioShimBundle()
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=900m", "tmpfs", home])
    registry = await startNpmRegistry()
    // Random, so that it is as large in its archive.
    const ballast = Buffer.from(Array.from({ length: 12 * mebibyte }, () => Math.random() * 256)).toString("base64")
    for (const name of ["first", "second"]) {
      await registry.publish(
        name,
        "1.0.0",
        { "a.js": stdioServer(`"${name}"`), [`of-${name}`]: `${name} ${ballast}` },
        {
          bin: "a.js"
        }
      )
    }
    await berth.start({
      machines: true,
      variables: {
        BERTH_HOME: home,
        DISK_RESERVE: "0",
        NPM_REGISTRY: registry.url,
        ALLOWED_PRIVATE_HOSTS: registry.host
      }
    })
    owner = await berth.signUp("enterprise")
    server = await owner.server((await owner.project()).id, { healthTimeoutSeconds: 30 })
    expect(await deploy("first")).toMatchObject({ status: "running" })
  }, 120_000)
  afterAll(async () => {
    await berth.stop()
    await registry.close()
    execFileSync("umount", ["-l", home])
  })

  it.each([2, 30, 50])("%i MiB before its end, fails the deployment alone, and leaves nothing of it", async (left) => {
    fill(left * mebibyte)
    const failed = await deploy("second")
    expect(failed).toMatchObject({ status: "failed" })
    expect(failed.errorMessage).toMatch(/^(resolving|mirroring|creating): The platform's disk is full; try again/)
    expect(installing()).toEqual([])
    expect(dataOf(await owner.get<{ data: Server }>(`/v1/servers/${server.id}`))).toMatchObject({ status: "running" })
  }, 60_000)

  it("is no trouble any more when there is room", async () => {
    rmSync(join(home, "fill"))
    expect(await deploy("second")).toMatchObject({ status: "running" })
  }, 60_000)
}, missing)
