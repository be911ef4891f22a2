import { removeEmptyParent } from "#src/machines/sandbox/cgroups.ts"
import { chooseHost } from "#src/machines/sandbox/choose.ts"
import * as lifecycle from "#src/machines/sandbox/lifecycle.ts"
import { takeFiles } from "#src/packages/script-files.ts"
import { scriptMachine } from "#src/packages/script-root.ts"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterEach, expect, it } from "vitest"
import { everyTierAtLength } from "../machines/tiers.ts"
import { temporaryDirectory } from "../support/Settings.ts"

const npm = realpathSync(
  join(execFileSync("sh", ["-c", "realpath \"$(command -v npm)\""], { encoding: "utf8" }).trim(), "../..")
)

/** A package as npm installs it, whose script writes a file and a folder, and removes a file. */
const installed = () => {
  const folder = temporaryDirectory("installed")
  const manifest = {
    name: "thing",
    version: "1.0.0",
    scripts: {
      postinstall: "mkdir -p made/deep made/empty && echo yes > made/deep/file && chmod 755 made/deep/file && rm old"
    }
  }
  const files = {
    "package.json": JSON.stringify({ name: "berth-package", dependencies: { thing: "1.0.0" } }),
    "package-lock.json": JSON.stringify({
      name: "berth-package",
      lockfileVersion: 3,
      packages: {
        "": { name: "berth-package", dependencies: { thing: "1.0.0" } },
        "node_modules/thing": { version: "1.0.0", hasInstallScript: true }
      }
    }),
    "node_modules/thing/package.json": JSON.stringify(manifest),
    "node_modules/thing/old": "old"
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

everyTierAtLength("the machine of install scripts", (tier) => {
  const clean: Array<() => Promise<void>> = []
  afterEach(async () => {
    for (const each of clean.splice(0)) await each()
  })

  it.each([true, false])("hands out what they wrote (own layer: %s)", async (overlay) => {
    const host = { ...await Effect.runPromise(chooseHost(temporaryDirectory("m"), tier)), overlay }
    const folder = installed()
    const machine = await Effect.runPromise(scriptMachine(temporaryDirectory("root"), folder, npm))
    expect(existsSync(join(folder, "node_modules"))).toBe(false)
    clean.push(async () => {
      await Effect.runPromise(lifecycle.destroy(host, "scripts"))
      removeEmptyParent(host.paths.cgroup)
    })
    const spec = {
      name: "scripts",
      owner: "srv",
      ...machine,
      env: {},
      cpu: "shared-1x",
      memoryMb: 512
    } as const
    await Effect.runPromise(lifecycle.provision(host, spec))
    const { address } = await Effect.runPromise(lifecycle.start(host, "scripts"))
    await expect.poll(() => Effect.runPromise(takeFiles(address, folder)), { timeout: 30_000, interval: 200 }).toBe(
      true
    )
    const thing = join(folder, "node_modules/thing")
    expect(readFileSync(join(thing, "made/deep/file"), "utf8")).toBe("yes\n")
    expect(statSync(join(thing, "made/deep/file")).mode & 0o777).toBe(0o755)
    expect([existsSync(join(thing, "made/empty")), existsSync(join(thing, "old"))]).toEqual([true, false])
    await expect.poll(() => lifecycle.stateOf(host.paths, "scripts")?.status, { timeout: 10_000 }).toBe("exited")
    expect(lifecycle.stateOf(host.paths, "scripts")?.exitCode).toBe(0)
  }, 90_000)
})
