import { SettingError, type Settings } from "#src/Config.ts"
import { Effect, Either } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { MachineSpec } from "../Machines.ts"
import { bubblewrap } from "./bubblewrap.ts"
import { findCgroups } from "./cgroups.ts"
import * as lifecycle from "./lifecycle.ts"
import { openYard, scratchDir, SEARCH_PATH, type Yard } from "./paths.ts"
import { runc } from "./runc.ts"
import { readExit, sweep } from "./store.ts"
import type { Tier } from "./Tier.ts"
import { gatherTools } from "./tools.ts"
import { utilLinux } from "./utilLinux.ts"

export interface ChosenHost extends lifecycle.Host {
  readonly enforces: ReadonlyArray<string>
}

const isRoot = () => process.getuid?.() === 0

const installed = (program: string, atLeast: readonly [number, number]) => {
  try {
    const text = execFileSync(program, ["--version"], { encoding: "utf8", env: { PATH: SEARCH_PATH }, stdio: "pipe" })
    const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(text) ?? []
    return Number(major) > atLeast[0] || (Number(major) === atLeast[0] && Number(minor) >= atLeast[1])
  } catch {
    return false
  }
}

/** Why a tier is not even tried. */
const missing: Readonly<Record<Tier["name"], () => string | undefined>> = {
  runc: () =>
    !isRoot() ? "runc needs root" : installed("runc", [1, 0]) ? undefined : "runc 1.0 or newer is not installed",
  bubblewrap: () => installed("bwrap", [0, 8]) ? undefined : "bubblewrap 0.8 or newer is not installed",
  "util-linux": () => installed("unshare", [2, 36]) ? undefined : "util-linux 2.36 or newer is not installed"
}

/** Runs `env` of the tools directory as a whole machine, from provision to exit: what works then will work later. */
const probe = (like: lifecycle.Host, tools: string) => {
  // A place of its own: a trial is no machine, and is swept away when we die in it.
  const host = { ...like, yard: { ...like.yard, machines: scratchDir(like.yard) } }
  const spec: MachineSpec = {
    name: `probe-${process.pid}-${host.tier.name}`,
    owner: "",
    rootfs: tools,
    config: { entrypoint: ["/ld", "--library-path", "/", "/env"], cmd: [], env: [], workingDir: "/", user: "" },
    env: {},
    port: 1,
    cpu: "shared-1x",
    memoryMb: 64
  }
  return Effect.gen(function*() {
    mkdirSync(host.yard.machines, { mode: 0o700 })
    yield* lifecycle.provision(host, spec)
    yield* lifecycle.start(host, spec.name)
    for (let tries = 0; tries < 300 && lifecycle.stateOf(host.yard, spec.name)?.status === "running"; tries++) {
      yield* Effect.sleep(10)
    }
    const exitCode = readExit(host.yard, spec.name)?.exitCode
    if (exitCode === 0) return
    const said = yield* lifecycle.lastWords(host, spec.name)
    return yield* Effect.fail({ message: said || `a trial ended with ${exitCode ?? "nothing"}` })
  }).pipe(
    Effect.mapError((error) => error.message),
    Effect.ensuring(Effect.ignore(lifecycle.destroy(host, spec.name))),
    Effect.ensuring(Effect.sync(() => rmSync(host.yard.machines, { recursive: true, force: true })))
  )
}

const describe = (host: lifecycle.Host): ReadonlyArray<string> => [
  "own mounts, processes, IPC and host name",
  "private network, no egress but to AUTH_URL",
  ...host.tier.enforces,
  host.overlay ? "copy-on-write root" : "read-only root",
  ...(host.cgroups === undefined
    ? ["memory and processes by rlimits and a watch", "no CPU limit"]
    : [`memory, CPU and process limits (cgroup v${host.cgroups.version})`])
]

const tryTier = (yard: Yard, tier: Tier, tools: string) =>
  Effect.gen(function*() {
    const absent = missing[tier.name]()
    if (absent !== undefined) return yield* Effect.fail(absent)
    const cgroups = isRoot() ? findCgroups(yard.cgroup) : undefined
    const withLayer: lifecycle.Host = { yard, tier, cgroups, overlay: true, auth: undefined }
    const first = yield* Effect.either(probe(withLayer, tools))
    if (Either.isRight(first)) return withLayer
    const without = { ...withLayer, overlay: false }
    yield* Effect.mapError(probe(without, tools), (second) => `${tier.name}: ${first.left}; ${second}`)
    return without
  })

const advice = "Run as root with runc installed, install bubblewrap (0.8 or newer), or allow unprivileged user " +
  "namespaces (Ubuntu 24.04: sysctl kernel.apparmor_restrict_unprivileged_userns=0); otherwise use Docker."

export const chooseHost = (home: string, wanted: Settings["sandboxTier"]): Effect.Effect<ChosenHost, SettingError> =>
  Effect.gen(function*() {
    if (process.platform !== "linux") {
      return yield* new SettingError({ message: "COMPUTE_DRIVER sandbox works on Linux only: use Docker here." })
    }
    const { tools, yard } = yield* Effect.try({
      try: () => {
        const yard = openYard(home)
        sweep(yard)
        return { yard, tools: gatherTools(join(yard.machines, ".tools"), scratchDir(yard)) }
      },
      catch: (error) =>
        new SettingError({ message: `BERTH_HOME ${home} cannot be made ready for machines: ${String(error)}` })
    })
    const tiers = [runc, bubblewrap, utilLinux(tools)].filter((tier) => wanted === "auto" || tier.name === wanted)
    const refusals: Array<string> = []
    for (const tier of tiers) {
      const tried = yield* Effect.either(tryTier(yard, tier, tools))
      if (Either.isRight(tried)) return { ...tried.right, enforces: describe(tried.right) }
      refusals.push(tried.left)
    }
    return yield* new SettingError({
      message: `SANDBOX_TIER ${wanted}: no machine can run here (${refusals.join("; ")}). ${advice}`
    })
  })
