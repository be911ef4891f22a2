import { removeEmptyParent } from "#src/machines/sandbox/cgroups.ts"
import { chooseHost } from "#src/machines/sandbox/choose.ts"
import * as lifecycle from "#src/machines/sandbox/lifecycle.ts"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { readdirSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { afterEach, expect, it } from "vitest"
import { testRootfs } from "../support/rootfs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { about, run, specOf } from "./support.ts"
import { everyTierAtLength } from "./tiers.ts"

const files = [{ name: "a.json", content: "{}" }]

everyTierAtLength("a host without overlay file systems", (tier) => {
  const clean: Array<() => Promise<void>> = []
  afterEach(async () => {
    for (const each of clean.splice(0)) await each()
  })

  it("gives machines their image read-only, /tmp apart", async () => {
    const host = { ...await Effect.runPromise(chooseHost(temporaryDirectory("m"), tier)), overlay: false }
    clean.push(async () => {
      await Effect.runPromise(lifecycle.destroy(host, "flat"))
      removeEmptyParent(host.paths.cgroup)
    })
    await Effect.runPromise(lifecycle.provision(host, specOf("flat", { files })))
    const state = await Effect.runPromise(lifecycle.start(host, "flat"))
    expect((await about(state)).cwd).toBe("/app")
    const tried = await run(state, [
      "sh",
      "-c",
      "for p in / /app /etc /usr/bin; do echo x >$p/new && echo wrote $p; done; echo x >/tmp/x && cat /tmp/x"
    ])
    expect(tried.stdout).toBe("x\n")
    expect((await run(state, ["cat", "/.berth-files/a.json"])).stdout).toBe("{}")
    expect((await run(state, ["sh", "-c", "echo x >/.berth-files/a.json"])).code).not.toBe(0)
    expect((await run(state, ["sh", "-c", "echo x >/etc/passwd"])).code).not.toBe(0)
    expect((await run(state, ["cat", "/etc/group"])).stdout).toContain("node:x:1001")
  })

  it.each([true, false])("and its links lead nowhere outside (own layer: %s)", async (overlay) => {
    const rootfs = join(temporaryDirectory("image"), "root")
    execFileSync("cp", ["-al", testRootfs(), rootfs])
    rmSync(join(rootfs, "etc"), { recursive: true })
    const outside = temporaryDirectory("outside")
    for (const name of ["etc", "tmp", "dev", "proc", ".berth", ".berth-files", "home"]) {
      symlinkSync(outside, join(rootfs, name))
    }
    const host = { ...await Effect.runPromise(chooseHost(temporaryDirectory("m"), tier)), overlay }
    clean.push(async () => {
      await Effect.runPromise(lifecycle.destroy(host, "links"))
      removeEmptyParent(host.paths.cgroup)
    })
    const spec = specOf("links", { rootfs, files })
    const config = { ...spec.config, user: "7:7", workingDir: "/home/x" }
    // The directory is behind a link that leads nowhere within, so the machine may refuse to start in it.
    await Effect.runPromise(lifecycle.provision(host, { ...spec, config }))
    await Effect.runPromise(lifecycle.start(host, "links"))
    await Effect.runPromise(lifecycle.stop(host, "links", 0))
    expect(readdirSync(outside)).toEqual([])
    clean.push(async () => {
      await Effect.runPromise(lifecycle.destroy(host, "plain"))
      removeEmptyParent(host.paths.cgroup)
    })
    await Effect.runPromise(lifecycle.provision(host, specOf("plain", { rootfs, files })))
    const state = await Effect.runPromise(lifecycle.start(host, "plain"))
    await about(state)
    expect((await run(state, ["sh", "-c", "echo x >/tmp/x && cat /tmp/x"])).stdout).toBe("x\n")
    expect(readdirSync(outside)).toEqual([])
  })
})
