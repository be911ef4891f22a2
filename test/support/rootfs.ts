import { execFileSync } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"

const wanted = ["sh", "cat", "ls", "mkdir", "chroot", "mount", "unshare", "sleep", "id", "perl"]

const locate = (program: string) =>
  ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].map((dir) => join(dir, program)).find((path) => existsSync(path))

/** Puts a program and every library `ldd` names into the tree, at the paths they have here. */
const install = (root: string, path: string, as: string) => {
  const copy = (from: string, to: string) => {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    if (lstatSync(join(root, to), { throwIfNoEntry: false }) === undefined) {
      copyFileSync(realpathSync(from), join(root, to))
    }
  }
  copy(path, as)
  for (const [, library = ""] of execFileSync("ldd", [path], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g)) {
    copy(library, library)
  }
}

const build = (root: string) => {
  for (const dir of ["app", "etc", "root", "usr/bin"]) mkdirSync(join(root, dir), { recursive: true })
  install(root, process.execPath, "usr/bin/node")
  for (const program of wanted) {
    const path = locate(program)
    if (path !== undefined) install(root, path, `usr/bin/${basename(path)}`)
  }
  symlinkSync("usr/bin", join(root, "bin"))
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1001::/home/node:/bin/sh\n")
  writeFileSync(join(root, "etc/group"), "root:x:0:\nnode:x:1001:\n")
}

/**
 * A root file system out of this machine's own programs: Node, a shell, a few tools and perl where it is installed
 * (it can make any system call). Built once and kept below the temporary directory.
 */
export const testRootfs = (): string => {
  const kept = join(tmpdir(), `berth-test-rootfs-${process.version}-${process.getuid?.() ?? 0}-2`)
  if (existsSync(kept)) return kept
  const making = mkdtempSync(join(tmpdir(), "berth-test-rootfs-"))
  build(making)
  try {
    renameSync(making, kept)
  } catch {
    // Another test file was faster.
    rmSync(making, { recursive: true, force: true })
  }
  return kept
}
