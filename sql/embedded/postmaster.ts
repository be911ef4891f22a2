import { Effect, Schedule } from "effect"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { dirname, join } from "node:path"
import { type Cluster, command, port } from "./cluster.ts"
import { DatabaseError } from "./DatabaseError.ts"
import { StopTimes } from "./stop-times.ts"

const pidFile = ({ directory }: Pick<Cluster, "directory">) => join(directory, "data", "postmaster.pid")

const alive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** The pid of a stale file may now be another program's: checks the process name where the system has /proc. */
const isPostgres = (pid: number) => {
  try {
    return fs.readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "postgres"
  } catch {
    return !fs.existsSync("/proc/self/comm")
  }
}

const readPid = (cluster: Pick<Cluster, "directory">): number | undefined => {
  try {
    const pid = Number.parseInt(fs.readFileSync(pidFile(cluster), "utf8"), 10)
    return pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

/** The running server's process id, or undefined when none runs on these files. */
export const postmaster = (cluster: Pick<Cluster, "directory">): number | undefined => {
  const pid = readPid(cluster)
  return pid !== undefined && alive(pid) && isPostgres(pid) ? pid : undefined
}

const logLimit = 1_000_000

const openLog = (path: string) => {
  if (fs.existsSync(path) && fs.statSync(path).size > logLimit) fs.renameSync(path, `${path}.old`)
  const file = fs.openSync(path, "a", 0o600)
  return { file, from: fs.fstatSync(file).size }
}

/** Less than a segment of its log of writes, which it makes when it starts. */
const hasNoRoom = (directory: string) => {
  const { bavail, bsize } = fs.statfsSync(directory)
  return bavail * bsize < 16 * 1024 ** 2
}

export const fullDisk = /no space left on device|disk quota exceeded|\b(ENOSPC|EDQUOT)\b/i
/** Another process is starting the server, or a killed one still holds its shared memory. */
export const isTemporary = (why: string) =>
  /lock file|pre-existing shared memory|already in use/.test(why) && !/^could not (create|write) lock file/.test(why)

/** Why the server ended, from its log since the offset `from`. */
const reasonFromLog = (log: string, from: number) => {
  const lines = fs.readFileSync(log).subarray(from).toString("utf8").trim().split("\n")
  const fatal = lines.find((line) => fullDisk.test(line)) ??
    lines.filter((line) => /(FATAL|PANIC):/.test(line)).at(-1) ?? lines.at(-1) ?? ""
  const why = fatal.replace(/^.*?(FATAL|PANIC):\s*/, "")
  // On a full disk its last words are lost or torn.
  if (!fullDisk.test(why) && !isTemporary(why) && hasNoRoom(dirname(log))) return "No space left on device"
  return why || "it ended without a word"
}

/**
 * Starts the server in its own session: a Ctrl+C in our terminal must not reach it before we have drained, and it
 * outlives a crash of ours, to be adopted by the next start. Returns at once; the caller connects until it answers. The
 * result says why the server ended, if it ends early.
 */
export const launch = (cluster: Cluster, settings: Readonly<Record<string, string>>) =>
  Effect.try({
    try: () => {
      const log = join(cluster.directory, "log")
      // PostgreSQL refuses to start with a stale file whose pid now belongs to any process of the same user.
      if (readPid(cluster) !== undefined && postmaster(cluster) === undefined) fs.rmSync(pidFile(cluster))
      const all = {
        listen_addresses: "",
        port: String(port),
        unix_socket_directories: cluster.socketDirectory,
        unix_socket_permissions: "0700",
        // Statements and their values stay out of the log: their errors go to the client.
        log_min_messages: "log",
        log_checkpoints: "off",
        ...settings
      }
      const { args, file, options } = command(cluster, cluster.binaries.postgres, [
        "-D",
        join(cluster.directory, "data"),
        ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])
      ])
      const out = openLog(log)
      const child = spawn(file, args, { ...options, detached: true, stdio: ["ignore", out.file, out.file] })
      fs.closeSync(out.file)
      child.unref()
      let reason: (() => string) | undefined
      child.once("error", (error) => {
        reason = () => error.message
      })
      // Read when somebody asks: after an orderly end the log may be gone.
      child.once("exit", () => {
        reason = () => reasonFromLog(log, out.from)
      })
      return () => reason?.()
    },
    catch: (cause) => new DatabaseError({ message: `The embedded PostgreSQL couldn't be started: ${cause}`, cause })
  })

const hasEnded = (cluster: Cluster, pid: number) => Effect.sync(() => !alive(pid) || postmaster(cluster) !== pid)

const signal = (pid: number, name: NodeJS.Signals) =>
  Effect.sync(() => {
    try {
      process.kill(pid, name)
    } catch {
      // It ended by itself.
    }
  })

/**
 * A fast shutdown (SIGINT: connections are closed); after that an immediate one, which the next start recovers from.
 */
export const stop = Effect.fn("Embedded.stop")(function*(cluster: Cluster) {
  const pid = postmaster(cluster)
  if (pid === undefined) return
  const ended = hasEnded(cluster, pid).pipe(
    Effect.filterOrFail((is) => is, () => "running" as const),
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.interruptible
  )
  yield* signal(pid, "SIGINT")
  yield* ended.pipe(
    Effect.raceFirst(Effect.andThen(Effect.interruptible((yield* StopTimes).server), Effect.fail("running" as const))),
    Effect.catchAll(() => Effect.andThen(signal(pid, "SIGQUIT"), Effect.timeoutOption(ended, "5 seconds"))),
    Effect.ignore
  )
})
