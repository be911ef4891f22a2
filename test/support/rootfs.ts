import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
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
  for (
    const [, library = ""] of execFileSync(locate("ldd") ?? "", [path], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g)
  ) {
    copy(library, library)
  }
}

/**
 * What runs in the tests' machines: `GET /` tells of itself, `POST /run` runs a program (`{argv, input}` → `{code,
 * stdout, stderr}`), `POST /echo` streams the body back, `GET /flood` never ends, `GET /get?url` fetches,
 * `GET /exit?code` ends.
 */
const server = `
const http = require("http"), { spawn } = require("child_process")
const routes = {
  "/": (q, s) => s.end(JSON.stringify({
    env: process.env, argv: process.argv.slice(2), cwd: process.cwd(), uid: process.getuid(), gid: process.getgid(),
    pid: process.pid, hostname: require("os").hostname(), interfaces: Object.keys(require("os").networkInterfaces())
  })),
  "/echo": (q, s) => q.pipe(s),
  "/exit": (q) => process.exit(Number(q.url.split("?")[1])),
  "/flood": (q, s) => { const more = () => { while (s.write(Buffer.alloc(65536))); s.once("drain", more) }; more() },
  "/get": (q, s) => fetch(new URL(q.url, "http://x").searchParams.get("url"), { signal: AbortSignal.timeout(3000) })
    .then((r) => r.text()).then((t) => s.end("got " + t), (e) => s.end("failed " + (e.cause?.code ?? e.name))),
  "/run": async (q, s) => {
    let body = ""
    for await (const part of q) body += part
    const { argv, input } = JSON.parse(body)
    const child = spawn(argv[0], argv.slice(1)), out = { stdout: "", stderr: "" }
    for (const name of ["stdout", "stderr"]) child[name].on("data", (d) => out[name] += d)
    child.on("error", (e) => s.end(JSON.stringify({ code: -1, ...out, stderr: String(e) })))
    child.on("close", (code, signal) => s.end(JSON.stringify({ code: code ?? signal, ...out })))
    child.stdin.on("error", () => {}); child.stdin.end(input ?? "")
  }
}
http.createServer((q, s) => (routes[q.url.split("?")[0]] ?? ((_, s) => { s.statusCode = 404; s.end() }))(q, s))
  .listen(process.env.PORT, "127.0.0.1", () => console.log("listening"))
`

const build = (root: string) => {
  for (const dir of ["app", "etc", "root", "usr/bin"]) mkdirSync(join(root, dir), { recursive: true })
  install(root, process.execPath, "usr/bin/node")
  for (const program of wanted) {
    const path = locate(program)
    if (path !== undefined) install(root, path, `usr/bin/${basename(path)}`)
  }
  symlinkSync("usr/bin", join(root, "bin"))
  writeFileSync(join(root, "app/server.cjs"), server)
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1001::/home/node:/bin/sh\n")
  writeFileSync(join(root, "etc/group"), "root:x:0:\nnode:x:1001:\n")
}

/**
 * A root file system out of this machine's own programs: Node, a shell, a few tools and perl where it is installed
 * (it can make any system call). Built once and kept below the temporary directory.
 */
export const testRootfs = (): string => {
  const kept = join(
    tmpdir(),
    `berth-test-rootfs-${process.version}-${process.getuid?.() ?? 0}-${
      createHash("sha256").update(server + wanted).digest("hex").slice(0, 8)
    }`
  )
  if (existsSync(kept)) return kept
  const making = mkdtempSync(join(tmpdir(), "berth-test-rootfs-"))
  chmodSync(making, 0o755)
  build(making)
  try {
    renameSync(making, kept)
  } catch {
    // Another test file was faster.
    rmSync(making, { recursive: true, force: true })
  }
  return kept
}
