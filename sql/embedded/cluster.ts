import { Effect } from "effect"
import { spawn } from "node:child_process"
import { createHash, randomUUID } from "node:crypto"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { DatabaseError, reasonOf } from "./DatabaseError.ts"
import { type Binaries, binaries, type Runner, runnerFor } from "./runtime.ts"

export interface Cluster {
  /** The whole database is below it. */
  readonly directory: string
  /** Holds the Unix socket; closed to other users, which is what protects the database. */
  readonly socketDirectory: string
  readonly binaries: Binaries
  readonly runner: Runner
}

export const superuser = "berth"
export const port = 5432

const attempt = <A>(message: string, evaluate: () => A) =>
  Effect.try({
    try: evaluate,
    catch: (cause) => new DatabaseError({ message: `${message}: ${reasonOf(cause)}`, cause })
  })

/** A directory that only the server's user may enter. One that another user made first is rejected. */
const privateDirectory = (path: string, { owner }: Runner) => {
  fs.mkdirSync(path, { recursive: true, mode: 0o700 })
  if (owner !== undefined) fs.lchownSync(path, owner.uid, owner.gid)
  const stat = fs.lstatSync(path)
  if (!stat.isDirectory() || stat.uid !== (owner?.uid ?? process.getuid?.() ?? stat.uid)) {
    throw new Error(`${path} belongs to another user`)
  }
  fs.chmodSync(path, 0o700)
  return path
}

/** A socket's path is limited to 104 bytes on macOS, 108 on Linux; PostgreSQL reads a comma as a separator. */
const socketDirectoryFor = (directory: string) => {
  const near = join(directory, "socket")
  return Buffer.byteLength(`${near}/.s.PGSQL.${port}.lock`) < 104 && !/[",]/.test(near)
    ? near
    : join(tmpdir(), `berth-${createHash("sha256").update(directory).digest("hex").slice(0, 16)}`)
}

/** The command line and options that run one of the binaries as the server's user, with nothing of our environment. */
export const command = ({ runner }: Cluster, program: string, args: ReadonlyArray<string>) => {
  const [file, ...rest] = [...runner.prefix, program, ...args]
  const env = { LC_ALL: "C", TZ: "UTC", PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" }
  return { file: file!, args: rest, options: { ...runner.spawn, env, cwd: "/" } }
}

/** Created under another name and moved into place, so that a crash leaves no partial database. */
const initialise = (cluster: Cluster) =>
  Effect.async<void, DatabaseError>((resume) => {
    const fail = (cause: unknown) => {
      fs.rmSync(fresh, { recursive: true, force: true })
      resume(new DatabaseError({ message: `The embedded PostgreSQL couldn't be made: ${reasonOf(cause)}`, cause }))
    }
    const fresh = join(cluster.directory, `new-${randomUUID()}`)
    const { args, file, options } = command(cluster, cluster.binaries.initdb, [
      `--pgdata=${fresh}`,
      `--username=${superuser}`,
      "--auth=trust",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions"
    ])
    try {
      privateDirectory(fresh, cluster.runner)
    } catch (cause) {
      return fail(cause)
    }
    const child = spawn(file, args, { ...options, stdio: ["ignore", "ignore", "pipe"] })
    let errors = ""
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      errors = (errors + chunk).slice(-2000)
    })
    child.once("error", fail)
    child.once("close", (code) => {
      if (code !== 0) return fail(new Error(errors.trim().replaceAll(/\s*\n\s*/g, "; ") || `initdb ended with ${code}`))
      try {
        fs.renameSync(fresh, join(cluster.directory, "data"))
      } catch (cause) {
        // Another process was first; its database is used.
        if (!fs.existsSync(join(cluster.directory, "data", "PG_VERSION"))) return fail(cause)
        fs.rmSync(fresh, { recursive: true, force: true })
      }
      resume(Effect.void)
    })
  })

const sameMajor = (cluster: Cluster, version: string) =>
  version === "18" ? Effect.void : new DatabaseError({
    message: `${cluster.directory} was made by PostgreSQL ${version}, this is 18: dump it with the older version and ` +
      "restore it, or move it away"
  })

/** Finds the programs and the user, and creates the database below `directory` unless it exists. */
export const prepare = Effect.fn("Embedded.prepare")(function*(directory: string) {
  yield* attempt(
    "The directory of the embedded PostgreSQL can't be made",
    () => fs.mkdirSync(directory, { recursive: true })
  )
  const programs = yield* binaries
  const runner = yield* runnerFor([directory, dirname(programs.postgres)])
  const socketDirectory = yield* attempt(
    "The socket's directory can't be made",
    () => privateDirectory(socketDirectoryFor(directory), runner)
  )
  const cluster: Cluster = { directory, socketDirectory, binaries: programs, runner }
  const versionFile = join(directory, "data", "PG_VERSION")
  if (!fs.existsSync(versionFile)) yield* initialise(cluster)
  yield* sameMajor(cluster, fs.readFileSync(versionFile, "utf8").trim())
  return cluster
})
