import type { MachineSpec } from "#src/machines/Machines.ts"
import { Effect } from "effect"
import { mkdirSync, rmSync } from "node:fs"
import * as lifecycle from "./lifecycle.ts"
import { readPage } from "./output.ts"
import { machineDir, scratchDir } from "./paths.ts"
import { readExit } from "./store.ts"

/** Prints the kernel's status of the process, with shell built-ins only. */
const status = "while read -r line; do echo \"$line\"; done </proc/self/status"

const run = (host: lifecycle.Host, spec: MachineSpec) =>
  Effect.gen(function*() {
    mkdirSync(host.paths.machines, { mode: 0o700 })
    yield* lifecycle.provision(host, spec)
    yield* lifecycle.start(host, spec.name)
    for (let tries = 0; tries < 300 && lifecycle.stateOf(host.paths, spec.name)?.status === "running"; tries++) {
      yield* Effect.sleep(10)
    }
    const exitCode = readExit(host.paths, spec.name)?.exitCode
    const lines = readPage(machineDir(host.paths, spec.name), 0).lines.map(({ text }) => text)
    if (exitCode === 0) return lines
    return yield* Effect.fail({ message: lines.slice(-3).join(" ") || `a trial ended with ${exitCode ?? "nothing"}` })
  })

/**
 * Runs the shell of the tools directory as a whole machine, from provision to exit: what works then will work later.
 * The result is its own /proc/self/status, which shows how it is isolated.
 */
export const trial = (base: lifecycle.Host, tools: string): Effect.Effect<ReadonlyArray<string>, string> => {
  // In a separate directory: a trial is not listed as a machine, and it is swept if the platform dies during it.
  const host = { ...base, paths: { ...base.paths, machines: scratchDir(base.paths) } }
  const spec: MachineSpec = {
    name: `probe-${process.pid}-${host.tier.name}`,
    owner: "",
    rootfs: tools,
    config: {
      entrypoint: ["/ld", "--library-path", "/", "/sh", "-c", status],
      cmd: [],
      env: [],
      workingDir: "/",
      user: ""
    },
    env: {},
    port: 1,
    cpu: "shared-1x",
    memoryMb: 64
  }
  return run(host, spec).pipe(
    Effect.mapError((error) => error.message),
    Effect.ensuring(Effect.ignore(lifecycle.destroy(host, spec.name))),
    Effect.ensuring(Effect.sync(() => rmSync(host.paths.machines, { recursive: true, force: true })))
  )
}
