import { createHash, randomBytes } from "node:crypto"
import { chmodSync, lstatSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Where one platform home keeps its machines. */
export interface Yard {
  /** One directory a machine. */
  readonly machines: string
  /** The machines' Unix sockets; a short path, because `sun_path` holds 108 bytes (unix(7)). */
  readonly sockets: string
  /** Parent cgroup of this home's machines, below each hierarchy's root. */
  readonly cgroup: string
}

const SUN_PATH = 107
const digest = (text: string, length: number) => createHash("sha256").update(text).digest("hex").slice(0, length)

/** A directory only we can enter. One that others made in a shared place (a planted /tmp directory) is refused. */
const ownDirectory = (path: string) => {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const found = lstatSync(path)
  if (!found.isDirectory() || found.uid !== process.getuid?.()) throw new Error(`${path} belongs to someone else`)
  chmodSync(path, 0o700)
  return path
}

export const openYard = (home: string): Yard => {
  const near = join(home, "m")
  const short = Buffer.byteLength(join(near, "0".repeat(20))) <= SUN_PATH
  return {
    machines: ownDirectory(join(home, "machines")),
    sockets: ownDirectory(short ? near : join(tmpdir(), `berth-${digest(home, 12)}`)),
    cgroup: `berth-${digest(home, 12)}`
  }
}

export const machineDir = (yard: Yard, name: string) => join(yard.machines, name)
export const socketPath = (yard: Yard, name: string) => join(yard.sockets, `${digest(name, 16)}.s`)
/** Where its keeper leads what it asks of AUTH_URL. */
export const authSocketPath = (yard: Yard, name: string) => join(yard.sockets, `${digest(name, 16)}.a`)
/** Directories that begin with a dot are being made or removed: never a machine. */
export const scratchDir = (yard: Yard) => join(yard.machines, `.${randomBytes(6).toString("hex")}`)

/** A reader sees the old content or the new one, never a half. `flush` lets it outlive a crash of the host. */
export const writeAtomically = (path: string, content: string | Uint8Array, flush = false) => {
  const next = `${path}.${randomBytes(4).toString("hex")}`
  writeFileSync(next, content, { mode: 0o600, flush })
  renameSync(next, path)
}

/** Where the system's tools are looked for: ours alone, whatever the platform was started with. */
export const SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin"
