import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs"
import { readdir, rmdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Limits } from "./limits.ts"

/** The cgroups that limit whole machines. Version 1 has a tree for each controller, version 2 one for all. */
export type Cgroups =
  | { readonly version: 1; readonly memory: string; readonly pids: string; readonly cpu: string }
  | { readonly version: 2; readonly root: string }

const cgroupMounts = () =>
  readFileSync("/proc/self/mountinfo", "utf8").split("\n").flatMap((line) => {
    // proc(5): fields after the " - " are type, source, super options; field 5 before it is the mount point.
    const [before = "", after = ""] = line.split(" - ")
    const [type = "", , options = ""] = after.split(" ")
    return /^cgroup2?$/.test(type) ? [{ type, path: before.split(" ")[4] ?? "", options: options.split(",") }] : []
  })

const enable = (dir: string) => writeFileSync(join(dir, "cgroup.subtree_control"), "+memory +pids +cpu")

/** Undefined when one of the three controllers is missing here or we may not make groups. */
export const findCgroups = (parent: string): Cgroups | undefined => {
  try {
    const mounts = cgroupMounts()
    const of = (controller: string) => mounts.find((m) => m.type === "cgroup" && m.options.includes(controller))?.path
    const [memory, pids, cpu] = [of("memory"), of("pids"), of("cpu")]
    if (memory !== undefined && pids !== undefined && cpu !== undefined) {
      for (const tree of [memory, pids, cpu]) mkdirSync(join(tree, parent), { recursive: true })
      return { version: 1, memory, pids, cpu }
    }
    const root = mounts.find((m) => m.type === "cgroup2")?.path
    if (root === undefined) return undefined
    enable(root)
    mkdirSync(join(root, parent), { recursive: true })
    enable(join(root, parent))
    return { version: 2, root }
  } catch {
    return undefined
  }
}

/** Makes the machine's groups with their limits; the result is the files through which a process joins. */
export const makeCgroup = (cgroups: Cgroups, path: string, limits: Limits): ReadonlyArray<string> => {
  const set = (dir: string, values: Readonly<Record<string, string | number>>) => {
    mkdirSync(dir, { recursive: true })
    for (const [file, value] of Object.entries(values)) writeFileSync(join(dir, file), String(value))
    return join(dir, "cgroup.procs")
  }
  if (cgroups.version === 2) {
    const dir = join(cgroups.root, path)
    // The home's own group may have been swept away while it was empty.
    mkdirSync(dirname(dir), { recursive: true })
    enable(dirname(dir))
    const procsFiles = set(dir, {
      "memory.max": limits.memoryBytes,
      "memory.oom.group": 1,
      "pids.max": limits.pids,
      "cpu.max": `${limits.cpus * 100_000} 100000`,
      // The same weight on the scale of version 2, 1–10000 with 100 as the usual one.
      "cpu.weight": Math.max(1, Math.round(limits.shares * 100 / 1024))
    })
    if (existsSync(join(dir, "memory.swap.max"))) set(dir, { "memory.swap.max": 0 })
    return [procsFiles]
  }
  const memory = join(cgroups.memory, path)
  const procsFiles = [
    set(memory, { "memory.limit_in_bytes": limits.memoryBytes }),
    set(join(cgroups.pids, path), { "pids.max": limits.pids }),
    set(join(cgroups.cpu, path), {
      "cpu.cfs_period_us": 100_000,
      "cpu.cfs_quota_us": limits.cpus * 100_000,
      "cpu.shares": limits.shares
    })
  ]
  const swap = "memory.memsw.limit_in_bytes"
  if (existsSync(join(memory, swap))) set(memory, { [swap]: limits.memoryBytes })
  return procsFiles
}

const groupsOf = (path: string) =>
  cgroupMounts().map((mount) => join(mount.path, path)).filter((dir) => existsSync(dir))

/** Kills what is in the machine's groups, and in those that runc or the machine made below. */
export const killGroup = (path: string): void => {
  for (const dir of groupsOf(path)) {
    const below = readdirSync(dir, { recursive: true, withFileTypes: true })
    for (const procs of below.filter(({ name }) => name === "cgroup.procs")) {
      for (const pid of readFileSync(join(procs.parentPath, procs.name), "utf8").split("\n").filter(Boolean)) {
        try {
          process.kill(Number(pid), "SIGKILL")
        } catch {
          // It has ended.
        }
      }
    }
  }
}

/** Removes the machine's groups from every tree (runc makes one in each); false while one still has processes. */
export const removeCgroup = (path: string): boolean => {
  return groupsOf(path).map((dir) => {
    try {
      for (const below of readdirSync(dir, { withFileTypes: true })) {
        if (below.isDirectory()) rmdirSync(join(dir, below.name))
      }
      rmdirSync(dir)
      return true
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ENOENT"
    }
  }).every((removed) => removed)
}

/** Removes a home's own group from every tree in which it is empty. */
export const removeEmptyParent = (parent: string): void => {
  for (const mount of cgroupMounts()) {
    try {
      rmdirSync(join(mount.path, parent))
    } catch {
      // Absent, or in use.
    }
  }
}

const STALE_MILLIS = 60 * 60_000

const directories = (path: string) =>
  readdir(path, { withFileTypes: true }).then(
    (entries) => entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
    () => []
  )

/**
 * Removes what crashed or deleted homes leave: groups without a process, at least an hour old. The kernel refuses to
 * remove a group in use; a platform that loses an empty one makes it again.
 */
export const sweepGroups = async (): Promise<void> => {
  for (const { path } of cgroupMounts()) {
    for (const name of await directories(path)) {
      const parent = join(path, name)
      const age = /^berth-[0-9a-f]{12}$/.test(name)
        ? Date.now() - (statSync(parent, { throwIfNoEntry: false })?.mtimeMs ?? Infinity)
        : 0
      if (age < STALE_MILLIS) continue
      for (const machine of await directories(parent)) await rmdir(join(parent, machine)).catch(() => undefined)
      await rmdir(parent).catch(() => undefined)
    }
  }
}
