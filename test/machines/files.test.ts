import { readFileSync } from "node:fs"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Driver, driverOf, processOf, run, specOf, up } from "./support.ts"
import { everyTierAtLength } from "./tiers.ts"

const text = JSON.stringify({ long: "é".repeat(600_000) })
const node = (script: string) => ["node", "-e", script]
const path = "/.berth-files/config.json"

everyTierAtLength("files that the platform puts into a machine", (tier) => {
  let driver: Driver
  beforeAll(() => {
    driver = driverOf(tier)
  })
  afterAll(() => driver.clear())

  it("are there in full, for whatever user, and after a start anew", async () => {
    const config = { ...specOf("f1").config, user: "1000:1000" }
    const spec = specOf("f1", { config, files: [{ name: "config.json", content: text }] })
    const script = `process.stdout.write(String(require("fs").readFileSync("${path}").length))`
    const wanted = String(Buffer.byteLength(text))
    expect((await run(await up(driver, spec), node(script))).stdout).toBe(wanted)
    await driver.stop("f1")
    expect((await run(await up(driver, spec), node(script))).stdout).toBe(wanted)
  })

  it("can't be changed, removed, added to or run by the machine", async () => {
    const state = await up(driver, specOf("f2", { files: [{ name: "config.json", content: "#!/bin/sh\n" }] }))
    for (
      const attempt of [
        `writeFileSync("${path}", "x")`,
        `chmodSync("${path}", 0o777)`,
        `rmSync("${path}")`,
        `writeFileSync("${path}.new", "x")`
      ]
    ) {
      const { code, stderr } = await run(state, node(`require("fs").${attempt}`))
      expect(code, attempt).not.toBe(0)
      expect(stderr).toMatch(/EROFS|EACCES|EPERM/)
    }
    const mounts = await run(state, node(`process.stdout.write(require("fs").readFileSync("/proc/mounts"))`))
    expect(mounts.stdout).toMatch(/ \/\.berth-files \S+ ro,nosuid,nodev,noexec/)
  })

  it("are not in the record that every look reads", async () => {
    await driver.provision(specOf("f3", { files: [{ name: "a.json", content: "needle in a file" }] }))
    expect(readFileSync(`${driver.home}/machines/f3/machine.json`, "utf8")).not.toContain("needle")
    expect(processOf(driver, "f3")).toBeNull()
  })

  it("are absent where there are none", async () => {
    const state = await up(driver, specOf("f4"))
    const { stdout } = await run(state, node(`process.stdout.write(String(require("fs").existsSync("/.berth-files")))`))
    expect(stdout).toBe("false")
  })

  it("have plain names, each once, and a bounded size", async () => {
    const file = (name: string, content = "") => ({ name, content })
    const refused = (files: ReadonlyArray<{ name: string; content: string }>, reason: string) =>
      expect(driver.provision(specOf("f5", { files }))).rejects.toThrow(reason)
    for (const name of ["", ".", "..", "../x", "a/b", "a\0", "A", `${"a".repeat(101)}`]) {
      await refused([file(name)], "not a file name")
    }
    await refused([file("a"), file("a")], "the same name")
    await refused([file("a", "x".repeat(8 * 1024 * 1024)), file("b", "x")], "over 8 MiB")
    expect(await driver.inspect("f5")).toBeUndefined()
  })
})
