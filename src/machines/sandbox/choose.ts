import { SettingError, type Settings } from "#src/config/Settings.ts"
import { isDiskFull } from "#src/shared/disk-full.ts"
import { Effect, Either } from "effect"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { bubblewrap } from "./bubblewrap.ts"
import { findCgroups } from "./cgroups.ts"
import { type Walls, wallsIn } from "./guarantees.ts"
import type { Host } from "./lifecycle.ts"
import { openYard, scratchDir, SEARCH_PATH, type Yard } from "./paths.ts"
import { runc } from "./runc.ts"
import { sweep } from "./store.ts"
import type { Tier } from "./Tier.ts"
import { gatherTools } from "./tools.ts"
import { trial } from "./trial.ts"
import { utilLinux } from "./util-linux.ts"

export interface ChosenHost extends Host {
  readonly walls: Walls
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

const tryTier = (yard: Yard, tier: Tier, tools: string): Effect.Effect<ChosenHost, string> =>
  Effect.gen(function*() {
    const absent = missing[tier.name]()
    if (absent !== undefined) return yield* Effect.fail(absent)
    const cgroups = isRoot() ? findCgroups(yard.cgroup) : undefined
    const host: Host = { yard, tier, cgroups, overlay: true, auth: undefined }
    const first = yield* Effect.either(trial(host, tools))
    if (Either.isRight(first)) return { ...host, walls: wallsIn(first.right) }
    const without = { ...host, overlay: false }
    const second = yield* Effect.mapError(trial(without, tools), (said) => `${tier.name}: ${first.left}; ${said}`)
    return { ...without, walls: wallsIn(second) }
  })

const advice = "Run as root with runc installed, install bubblewrap (0.8 or newer), or allow unprivileged user " +
  "namespaces (Ubuntu 24.04: sysctl kernel.apparmor_restrict_unprivileged_userns=0); otherwise use Docker."

/** Why production does not take a tier by itself, when the operator has not named it. */
const weakness = ({ tier, walls }: ChosenHost) =>
  walls.lacking.length === 0 ? undefined : `${tier.name} lacks ${walls.lacking.join(", ")}`

const nothingRuns = (wanted: string, refusals: ReadonlyArray<string>) =>
  new SettingError({ message: `SANDBOX_TIER ${wanted}: no machine can run here (${refusals.join("; ")}). ${advice}` })

const nothingHolds = (weak: ReadonlyArray<ChosenHost>, refusals: ReadonlyArray<string>) =>
  new SettingError({
    message: `NODE_ENV=production: no tier here isolates machines in full (${
      [...weak.map(weakness), ...refusals].join("; ")
    }). Make a stronger one work (${advice.replace(/\.$/, "")}), or accept what is lacking with SANDBOX_TIER=${
      weak[0]?.tier.name
    }`
  })

/**
 * The strongest tier that works here, or the one that is wanted. With `strict` (production) a tier that lacks an
 * isolation guarantee has to be wanted by name.
 */
export const chooseHost = (
  home: string,
  wanted: Settings["sandboxTier"],
  strict = false
): Effect.Effect<ChosenHost, SettingError> =>
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
        new SettingError({
          message: `BERTH_HOME ${home} cannot be made ready for machines: ${
            isDiskFull(error) ? "its disk is full: make room" : String(error)
          }`
        })
    })
    const refusals: Array<string> = []
    const weak: Array<ChosenHost> = []
    for (const tier of [runc, bubblewrap, utilLinux(tools)]) {
      if (wanted !== "auto" && tier.name !== wanted) continue
      const tried = yield* Effect.either(tryTier(yard, tier, tools))
      if (Either.isLeft(tried)) refusals.push(tried.left)
      else if (strict && wanted === "auto" && weakness(tried.right) !== undefined) weak.push(tried.right)
      else return tried.right
    }
    return yield* weak.length > 0 ? nothingHolds(weak, refusals) : nothingRuns(wanted, refusals)
  })
