import { type ChildProcess, fork, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { build } from "tsup"
import { program } from "../../../tsup.config.ts"
import { nodeOptions } from "../support/node-options.ts"

const pinned = availableParallelism() > 1 && spawnSync("taskset", ["--version"]).status === 0

/** The proxies' core; load and machine have the other ones. */
export const proxyCore = "0"
export const otherCores = `1-${availableParallelism() - 1}`

const started = new Set<ChildProcess>()
process.on("exit", () => {
  for (const child of started) child.kill("SIGKILL")
})

const keep = (child: ChildProcess) => {
  started.add(child)
  child.once("exit", () => started.delete(child))
  return child
}

const pin = (pid: number, cores: string) => {
  if (pinned) spawnSync("taskset", ["-a", "-c", "-p", cores, String(pid)])
}

const names = ["floor", "front", "load", "machine", "pipe", "stdio", "streams"] as const

/** Built as the program is: what runs TypeScript as it stands adds a call to each closure. */
export const built = join(import.meta.dirname, "../../../node_modules/.cache/berth-bench")
await build({
  ...program,
  config: false,
  silent: true,
  entry: Object.fromEntries(names.map((name) => [name, join(import.meta.dirname, `${name}.program.ts`)])),
  outDir: built,
  clean: true
})

/** A program of this folder on those cores, and what it says first. */
export const startProgram = async <A>(
  name: typeof names[number],
  cores: string,
  ...args: ReadonlyArray<string>
) => {
  const child = keep(fork(join(built, `${name}.js`), args, { execArgv: nodeOptions }))
  const gone = once(child, "exit").then(() => {
    throw new Error(`${name} ended`)
  })
  const [said] = await Promise.race([once(child, "message"), gone]) as [A]
  gone.catch(() => undefined)
  pin(child.pid!, cores)
  return { child, said }
}

/** Another program on those cores. */
export const startCommand = (
  command: string,
  args: ReadonlyArray<string>,
  cores: string,
  environment: Readonly<Record<string, string>> = {}
) =>
  keep(
    spawn(pinned ? "taskset" : command, pinned ? ["-c", cores, command, ...args] : [...args], {
      env: { ...process.env, ...environment },
      stdio: ["pipe", "pipe", "inherit"]
    })
  )
