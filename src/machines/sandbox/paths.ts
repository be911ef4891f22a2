import { createHash, randomBytes } from "node:crypto"
import { chmodSync, lstatSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Where one platform home keeps its machines. */
export interface MachinePaths {
  /** One directory for each machine. */
  readonly machines: string
  /** The machines' Unix sockets; a short path, because `sun_path` holds 108 bytes (unix(7)). */
  readonly sockets: string
  /** Parent cgroup of this home's machines, below each hierarchy's root. */
  readonly cgroup: string
}

const SUN_PATH = 107
const digest = (text: string, length: number) => createHash("sha256").update(text).digest("hex").slice(0, length)

/** A directory that only we can enter. One that others made in a shared place (planted in /tmp) is rejected. */
const ownDirectory = (path: string) => {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const stats = lstatSync(path)
  if (!stats.isDirectory() || stats.uid !== process.getuid?.()) throw new Error(`${path} belongs to someone else`)
  chmodSync(path, 0o700)
  return path
}

export const openMachinePaths = (home: string): MachinePaths => {
  const near = join(home, "m")
  const short = Buffer.byteLength(join(near, "0".repeat(20))) <= SUN_PATH
  return {
    machines: ownDirectory(join(home, "machines")),
    sockets: ownDirectory(short ? near : join(tmpdir(), `berth-${digest(home, 12)}`)),
    cgroup: `berth-${digest(home, 12)}`
  }
}

export const machineDir = (paths: MachinePaths, name: string) => join(paths.machines, name)
export const socketPath = (paths: MachinePaths, name: string) => join(paths.sockets, `${digest(name, 16)}.s`)
/** The socket to which its keeper relays connections to AUTH_URL. */
export const authSocketPath = (paths: MachinePaths, name: string) => join(paths.sockets, `${digest(name, 16)}.a`)
/** The socket to which its keeper relays everything else that goes out. */
export const egressSocketPath = (paths: MachinePaths, name: string) => join(paths.sockets, `${digest(name, 16)}.e`)
/** Directories that begin with a dot are being made or removed: never a machine. */
export const scratchDir = (paths: MachinePaths) => join(paths.machines, `.${randomBytes(6).toString("hex")}`)

/** A reader sees the old content or the new one, never a part. With `flush` it survives a crash of the host. */
export const writeAtomically = (path: string, content: string | Uint8Array, flush = false) => {
  const next = `${path}.${randomBytes(4).toString("hex")}`
  writeFileSync(next, content, { mode: 0o600, flush })
  renameSync(next, path)
}

/** The search path for system tools, whatever `PATH` the platform was started with. */
export const SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin"
