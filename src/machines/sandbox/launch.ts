import { closeInherited } from "#src/shared/inherited-descriptors.ts"
import { messageOf } from "#src/shared/message-of.ts"
import { identify, type ProcessId } from "#src/shared/processes.ts"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import type { AuthWay } from "./auth-way.ts"
import { type Cgroups, makeCgroup } from "./cgroups.ts"
import { etcDirectory, plainDirectory } from "./inside.ts"
import { keeperEgress } from "./keeper-egress.ts"
import { keeperOutput } from "./keeper-output.ts"
import type { KeeperPlan } from "./keeper-plan.ts"
import { keeper } from "./keeper.ts"
import { joinCgroups, prepareRoot, waitForGo } from "./launcher.ts"
import { SEARCH_PATH, writeAtomically } from "./paths.ts"
import { proxy } from "./proxy-variables.ts"
import { SandboxError } from "./SandboxError.ts"
import type { Prepared, Tier } from "./Tier.ts"

/** The keeper as a program. esbuild may have wrapped named functions in a helper called `__name`. */
export const keeperProgram = `const __name = (f) => f;(${keeper.toString()})(${
  ["require", closeInherited.toString(), keeperEgress.toString(), keeperOutput.toString()].join(", ")
})\n`

// Small heaps: a keeper holds a few sockets' buffers and nothing else.
const nodeFlags = ["--max-semi-space-size=1", "--max-old-space-size=64", "--v8-pool-size=1", "--no-warnings"]

const READY_SECONDS = 20

export interface Launch {
  readonly tier: Tier
  readonly machine: Prepared
  readonly rootfs: string
  readonly run: number
  readonly socket: string
  readonly port: number
  /** The route to AUTH_URL, and the platform's socket for it. */
  readonly auth: Pick<AuthWay, "name" | "port"> & { readonly socket: string } | undefined
  /** The platform's socket for everything else outside. */
  readonly egress: { readonly socket: string } | undefined
  readonly cgroups: Cgroups | undefined
  /** Whether the kernel lets us mount a writable layer over the image. */
  readonly overlay: boolean
  /** Stores the process's identity on disk; the process waits until this is done. */
  readonly record: (process: ProcessId) => void
}

const writeFiles = (launch: Launch) => {
  const { cgroups, machine, tier } = launch
  const command = tier.command(machine)
  for (const [name, content] of Object.entries(command.files)) {
    mkdirSync(dirname(join(machine.dir, name)), { recursive: true, mode: 0o700 })
    writeAtomically(join(machine.dir, name), content)
  }
  const procsFiles = cgroups === undefined || machine.cgroup === undefined || tier.ownCgroup
    ? []
    : makeCgroup(cgroups, machine.cgroup, machine.limits)
  const plan: KeeperPlan = {
    argv: ["/bin/sh", "-c", joinCgroups, "berth-machine", ...procsFiles, "--", ...command.argv],
    path: SEARCH_PATH,
    inputs: command.inputs.map((name) => join(machine.dir, name)),
    depth: tier.depth,
    isInit: tier.isInit,
    run: launch.run,
    socket: launch.socket,
    port: launch.port,
    auth: launch.auth === undefined || launch.auth.port === launch.port
      ? null
      : { port: launch.auth.port, socket: launch.auth.socket },
    egress: launch.egress === undefined
      ? null
      : { ...launch.egress, authName: launch.auth?.name ?? "", ownPort: launch.port, ...proxy },
    dir: machine.dir,
    memoryBytes: machine.cgroup === undefined ? machine.limits.memoryBytes : 0
  }
  writeAtomically(join(machine.dir, "keeper.json"), JSON.stringify(plan))
  writeAtomically(join(machine.dir, "keeper.cjs"), keeperProgram)
}

const command = ({ auth, machine, overlay, rootfs, tier }: Launch) => [
  ...["-c", waitForGo, "berth-machine"],
  ...["unshare", ...(tier.userNamespace ? ["--user", "--map-root-user"] : [])],
  ...["--mount", "--net", "--pid", "--fork", "--kill-child", "--"],
  ...["/bin/sh", "-c", prepareRoot, "berth-machine", machine.dir, rootfs, String(machine.limits.scratchBytes)],
  overlay ? (tier.userNamespace ? ",userxattr" : "") : "none",
  // The platform owns an unpacked image's files. In a user namespace the machine runs as the platform's user, too.
  tier.userNamespace ? "0:0" : `${machine.user.uid}:${machine.user.gid}`,
  plainDirectory(rootfs, machine.workingDir),
  plainDirectory(rootfs, machine.user.home),
  auth?.name ?? "",
  etcDirectory(rootfs),
  ...[process.execPath, ...nodeFlags, join(machine.dir, "keeper.cjs"), join(machine.dir, "keeper.json")]
]

const readLog = (path: string) => {
  try {
    return readFileSync(path, "utf8").trim()
  } catch {
    return ""
  }
}

/** Starts the keeper; completes when it listens, while the machine's own process is still starting. */
export const launch = (options: Launch): Effect.Effect<void, SandboxError> =>
  Effect.async<void, SandboxError>((resume) => {
    const { dir } = options.machine
    const fail = (message: string) => resume(new SandboxError({ message }))
    try {
      for (const old of ["exit.json", "runc", "bundle"]) rmSync(join(dir, old), { recursive: true, force: true })
      rmSync(options.socket, { force: true })
      writeFiles(options)
      const log = openSync(join(dir, "keeper.log"), "w", 0o600)
      const child = spawn("/bin/sh", command(options), {
        cwd: dir,
        detached: true,
        env: { PATH: SEARCH_PATH },
        stdio: ["pipe", "pipe", log]
      })
      closeSync(log)
      const readyTimeout = setTimeout(() => {
        child.kill("SIGKILL")
        fail(`it was not ready in ${READY_SECONDS} seconds`)
      }, READY_SECONDS * 1000)
      child.on("error", (error) => fail(error.message))
      child.stdin?.on("error", () => undefined)
      child.stdout?.once("data", () => {
        child.stdout?.destroy()
        child.removeAllListeners("exit")
        clearTimeout(readyTimeout)
        // From here on it runs independently and must not delay our exit.
        child.unref()
        resume(Effect.void)
      })
      child.once("close", () => clearTimeout(readyTimeout))
      child.on("exit", () => fail(readLog(join(dir, "keeper.log")) || "it ended while starting"))
      const self = child.pid === undefined ? undefined : identify(child.pid)
      if (self === undefined) return fail("the launcher could not be started")
      options.record(self)
      child.stdin?.end("go\n")
    } catch (error) {
      fail(messageOf(error))
    }
  })
