import { sweepGroups } from "#src/machines/sandbox/cgroups.ts"
import { createHash, randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, rmdirSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { describeWhen } from "../support/needs.ts"
import { driverOf, specOf, up } from "./support.ts"
import { everyTier } from "./tiers.ts"

const trees = () =>
  readFileSync("/proc/self/mountinfo", "utf8").split("\n").filter((line) => / - cgroup2? /.test(line))
    .map((line) => line.split(" ")[4] ?? "")

const groupsOf = (home: string) => {
  const name = `berth-${createHash("sha256").update(home).digest("hex").slice(0, 12)}`
  return trees().map((tree) => join(tree, name)).filter(existsSync)
}

everyTier("a home's own cgroup", (tier) => {
  it("is gone with a clean stop, stays while a machine runs on, and is made again", async () => {
    const first = driverOf(tier)
    const { home } = first
    const state = await up(first, specOf("stays"))
    const bounded = groupsOf(home).length > 0
    await first.close()
    expect(groupsOf(home).length > 0).toBe(bounded)
    const second = driverOf(tier, home)
    expect((await second.inspect("stays"))?.status).toBe(state.status)
    await second.destroy("stays")
    // As another platform would that starts now and finds it long unused.
    for (const group of groupsOf(home)) rmdirSync(group)
    await up(second, specOf("next"))
    await second.clear()
    expect(groupsOf(home)).toEqual([])
  })
})

/** Where this user may make groups, and date them back. */
const tree = trees().find((path) => {
  const name = join(path, `berth-${randomBytes(6).toString("hex")}`)
  try {
    mkdirSync(name)
    utimesSync(name, 0, 0)
    rmdirSync(name)
    return true
  } catch {
    return false
  }
})

describeWhen(tree === undefined ? "cgroups are out of reach" : undefined, "groups that were left behind", () => {
  it("are removed when they are an hour old and without a process", async () => {
    const make = (name: string, age: number) => {
      const path = join(tree ?? "", name)
      mkdirSync(join(path, "machine"), { recursive: true })
      utimesSync(path, Date.now() / 1000 - age, Date.now() / 1000 - age)
      return path
    }
    const fake = () => `berth-${randomBytes(6).toString("hex")}`
    const [old, young, other] = [make(fake(), 4000), make(fake(), 60), make(`not-${fake()}`, 4000)]
    await sweepGroups()
    expect([old, young, other].map((path) => existsSync(path))).toEqual([false, true, true])
    for (const path of [young, other]) for (const dir of [join(path, "machine"), path]) rmdirSync(dir)
  })
})
