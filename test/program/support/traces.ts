import { createHash } from "node:crypto"
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Traces {
  /** Processes that work for this home: database, keepers, and what runs in machines. */
  readonly processes: ReadonlyArray<{ readonly pid: number; readonly command: string }>
  /** Names of the machines that run. */
  readonly machines: ReadonlyArray<string>
  readonly sockets: ReadonlyArray<string>
  /** Mounts of the host's namespace; those of others end with their processes. */
  readonly mounts: ReadonlyArray<string>
  /** Control groups of machines. */
  readonly cgroups: ReadonlyArray<string>
}

const read = (path: string) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

const link = (path: string) => {
  try {
    return readlinkSync(path)
  } catch {
    return ""
  }
}

const list = (path: string) => existsSync(path) ? readdirSync(path) : []

/** The names that a home's path gives to what lies outside of it. */
const digest = (home: string) => createHash("sha256").update(home).digest("hex").slice(0, 12)

const belongs = (pid: number, home: string) => {
  const at = `/proc/${pid}`
  if (/^\d+ \(.*\) [ZX]/s.test(read(`${at}/stat`))) return false
  if (read(`${at}/cmdline`).includes(home) || read(`${at}/cgroup`).includes(`/berth-${digest(home)}/`)) return true
  const elsewhere = link(`${at}/ns/mnt`) !== link("/proc/self/ns/mnt")
  return elsewhere && read(`${at}/mountinfo`).includes(home)
}

const socketsBelow = (path: string): ReadonlyArray<string> =>
  list(path).flatMap((name) => {
    const below = join(path, name)
    const found = lstatSync(below, { throwIfNoEntry: false })
    if (found?.isSocket() === true) return [below]
    // Root file systems of images are large, and no machine's socket is in one.
    return found?.isDirectory() === true && !/^(rootfs|data|images|ready-image)$/.test(name) ? socketsBelow(below) : []
  })

const cgroupsOf = (home: string) => {
  const root = "/sys/fs/cgroup"
  const own = `berth-${digest(home)}`
  return [root, ...list(root).map((name) => join(root, name))].map((path) => join(path, own)).flatMap((path) =>
    list(path).filter((name) => lstatSync(join(path, name), { throwIfNoEntry: false })?.isDirectory() === true)
      .map((name) => join(path, name))
  )
}

/** What of a platform can be seen from outside. */
export const traces = (home: string): Traces => {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number)
  const processes = pids.filter((pid) => belongs(pid, home)).map((pid) => ({
    pid,
    command: read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim()
  }))
  const keeper = new RegExp(`${home}/machines/([^/]+)/keeper\\.cjs`)
  return {
    processes,
    machines: [...new Set(processes.flatMap(({ command }) => keeper.exec(command)?.[1] ?? []))],
    sockets: [home, join(tmpdir(), `berth-${digest(home)}`)].flatMap(socketsBelow),
    mounts: read("/proc/self/mountinfo").split("\n").filter((line) => line.includes(home)),
    cgroups: cgroupsOf(home)
  }
}

export const nothing: Traces = { processes: [], machines: [], sockets: [], mounts: [], cgroups: [] }
