import { missingProgram } from "#src/machines/sandbox/programs.ts"
import { writeFileSync } from "node:fs"
import { rename } from "node:fs/promises"
import { join } from "node:path"
import { afterEach, expect, it } from "vitest"
import { describeWhen } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { driverOf, reached, specOf } from "./support.ts"

const production = { NODE_ENV: "production", SECRET_KEY: Buffer.alloc(32, 7).toString("base64") }
const processor = process.arch

/** A processor whose system calls we have no numbers of: no tier filters them. */
const onAnotherProcessor = () => Object.defineProperty(process, "arch", { value: "riscv64" })
afterEach(() => void Object.defineProperty(process, "arch", { value: processor }))

describeWhen(process.platform === "linux" ? undefined : "Linux only", "the choice of a tier", () => {
  it("falls in production on none that lacks an isolation guarantee, and says what is lacking and the ways out", async () => {
    onAnotherProcessor()
    const refused = driverOf("auto", temporaryDirectory("m"), production).info()
    await expect(refused).rejects.toThrow(/NODE_ENV=production.*util-linux lacks seccomp.*runc.*SANDBOX_TIER=\w+/)
  })

  it("is the operator's in production when the tier is named, and shows what is lacking", async () => {
    onAnotherProcessor()
    const named = driverOf("util-linux", temporaryDirectory("m"), production)
    expect(await named.info()).toMatchObject({
      tier: "util-linux",
      lacks: expect.arrayContaining(["seccomp"]) as unknown
    })
    await named.clear()
  })

  it("takes in development what works, and shows what is lacking", async () => {
    onAnotherProcessor()
    const driver = driverOf("auto")
    const { enforces, lacks } = await driver.info()
    expect(lacks).toContain("seccomp")
    expect(enforces).not.toContain("seccomp")
    await driver.clear()
  })

  it("falls in production on one that isolates in full", async () => {
    const driver = driverOf("auto", temporaryDirectory("m"), production)
    expect((await driver.info()).enforces).toEqual(
      expect.arrayContaining(["no capabilities", "no new privileges", "seccomp"])
    )
    await driver.clear()
  })
})

describeWhen(process.platform === "linux" ? undefined : "Linux only", "a sandbox program that is gone", () => {
  it("is named when a machine is to be started, and what to do; back again it works as before", async () => {
    const driver = driverOf("util-linux")
    await driver.provision(specOf("late"))
    const tool = join(driver.home, "machines/.tools/setpriv")
    await rename(tool, `${tool}.away`)
    await expect(driver.start("late")).rejects.toThrow(
      /^setpriv, which the util-linux tier needs, is gone .* install it again, or restart the platform/
    )
    expect((await driver.inspect("late"))?.status).toBe("created")
    await rename(`${tool}.away`, tool)
    await reached(await driver.start("late"))
    await driver.clear()
  })

  it("is found by its name in the system's folders, or by its path", async () => {
    const bwrap = join(temporaryDirectory("m"), "bwrap")
    writeFileSync(bwrap, "")
    expect(missingProgram({ name: "bubblewrap", programs: ["sh", bwrap] })).toBeUndefined()
    await rename(bwrap, `${bwrap}.away`)
    expect(missingProgram({ name: "bubblewrap", programs: ["sh", bwrap] })).toMatch(/^bwrap, which the bubblewrap tier/)
    expect(missingProgram({ name: "runc", programs: ["no-such-runc"] })).toMatch(/^no-such-runc, which the runc tier/)
  })
})
