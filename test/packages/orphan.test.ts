import { endNoted, noteProcess, tied } from "#src/machines/tied-process.ts"
import { installFolder, sweepWorkspaces } from "#src/packages/workspace.ts"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { describeWhen } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"

const missing = process.platform === "linux" ? undefined : "machines run on Linux only"

/** A zombie has ended: it only waits for whoever inherited it. */
const isAlive = (pid: number) => {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}

/** The number of a process that has just ended. */
const deadPid = () => {
  const pid = Number(execFileSync("/bin/sh", ["-c", "echo $$"], { encoding: "utf8" }))
  expect(isAlive(pid)).toBe(false)
  return pid
}

/** What a dead platform leaves: a workspace in its name, whose installer goes on, with a child of its own. */
const leftBehind = async (folder: string) => {
  const work = join(folder, `.tmp-${deadPid()}-0123456789abcdef`)
  const install = installFolder(work)
  mkdirSync(install, { recursive: true })
  const child = spawn("/bin/sh", ["-c", "sleep 600 & echo $!; wait"], {
    cwd: install,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"]
  })
  const [said] = (await once(child.stdout, "data")) as [Buffer]
  return { work, install, child, grandchild: Number(said.toString()) }
}

const end = ({ pid }: ChildProcess) => {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL")
  } catch {
    // It has ended, as it should.
  }
}

describeWhen(missing, "an installer whose platform is killed", () => {
  it("ends with it", async () => {
    const folder = temporaryDirectory("install")
    const platform = spawn(process.execPath, ["--import", "tsx", "test/packages/orphan.program.ts", folder], {
      stdio: "ignore"
    })
    const file = join(folder, "pid")
    await expect.poll(() => existsSync(file) && readFileSync(file, "utf8"), { timeout: 20_000 }).toMatch(/^\d+$/)
    const pid = Number(readFileSync(file, "utf8"))
    expect(isAlive(pid)).toBe(true)
    // What it is stands beside its folder, for the next platform.
    expect(JSON.parse(readFileSync(`${folder}.process`, "utf8"))).toMatchObject({ pid })
    platform.kill("SIGKILL")
    if ((await tied("true", [])).length === 1) await endNoted(folder)
    await expect.poll(() => isAlive(pid)).toBe(false)
  }, 30_000)

  it("is ended with all that it started by the next one, before its folder goes, where nothing tied it", async () => {
    const folder = temporaryDirectory("packages")
    const { child, grandchild, install, work } = await leftBehind(folder)
    try {
      noteProcess(install, child.pid)
      await sweepWorkspaces(folder)
      expect(isAlive(child.pid!)).toBe(false)
      await expect.poll(() => isAlive(grandchild)).toBe(false)
      expect(existsSync(work)).toBe(false)
    } finally {
      end(child)
    }
  })

  it("is never another process that got its number later", async () => {
    const folder = temporaryDirectory("packages")
    const { child, install, work } = await leftBehind(folder)
    try {
      noteProcess(install, child.pid)
      const note = `${install}.process`
      writeFileSync(note, JSON.stringify({ ...JSON.parse(readFileSync(note, "utf8")), start: "1" }))
      await sweepWorkspaces(folder)
      expect(isAlive(child.pid!)).toBe(true)
      expect(existsSync(work)).toBe(false)
    } finally {
      end(child)
    }
  })
})
