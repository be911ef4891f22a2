import { SettingError, type Settings } from "#src/config/Settings.ts"
import { isDiskFull } from "#src/shared/disk-full.ts"
import { Effect, Either } from "effect"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { bubblewrap } from "./bubblewrap.ts"
import { findCgroups } from "./cgroups.ts"
import { type Isolation, isolationIn } from "./guarantees.ts"
import type { Host } from "./lifecycle.ts"
import { type MachinePaths, openMachinePaths, scratchDir, SEARCH_PATH } from "./paths.ts"
import { runc } from "./runc.ts"
import { sweep } from "./store.ts"
import type { Tier } from "./Tier.ts"
import { gatherTools } from "./tools.ts"
import { trial } from "./trial.ts"
import { utilLinux } from "./util-linux.ts"

export interface ChosenHost extends Host {
  readonly isolation: Isolation
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

/** Why a tier is not even attempt. */
const unavailability: Readonly<Record<Tier["name"], () => string | undefined>> = {
  runc: () =>
    !isRoot() ? "runc needs root" : installed("runc", [1, 0]) ? undefined : "runc 1.0 or newer is not installed",
  bubblewrap: () => installed("bwrap", [0, 8]) ? undefined : "bubblewrap 0.8 or newer is not installed",
  "util-linux": () => installed("unshare", [2, 36]) ? undefined : "util-linux 2.36 or newer is not installed"
}

const tryTier = (paths: MachinePaths, tier: Tier, tools: string): Effect.Effect<ChosenHost, string> =>
  Effect.gen(function*() {
    const reason = unavailability[tier.name]()
    if (reason !== undefined) return yield* Effect.fail(reason)
    const cgroups = isRoot() ? findCgroups(paths.cgroup) : undefined
    const host: Host = { paths, tier, cgroups, overlay: true, auth: undefined, egress: undefined }
    const first = yield* Effect.either(trial(host, tools))
    if (Either.isRight(first)) return { ...host, isolation: isolationIn(first.right) }
    const readOnly = { ...host, overlay: false }
    const second = yield* Effect.mapError(trial(readOnly, tools), (reason) => `${tier.name}: ${first.left}; ${reason}`)
    return { ...readOnly, isolation: isolationIn(second) }
  })

const advice = "Run as root with runc installed, install bubblewrap (0.8 or newer), or allow unprivileged user " +
  "namespaces (Ubuntu 24.04: sysctl kernel.apparmor_restrict_unprivileged_userns=0); otherwise use Docker."

/** Why production does not use a tier that the operator has not named. */
const weakness = ({ isolation, tier }: ChosenHost) =>
  isolation.lacking.length === 0 ? undefined : `${tier.name} lacks ${isolation.lacking.join(", ")}`

const noTierRuns = (requested: string, rejections: ReadonlyArray<string>) =>
  new SettingError({
    message: `SANDBOX_TIER ${requested}: no machine can run here (${rejections.join("; ")}). ${advice}`
  })

const noTierIsolates = (weak: ReadonlyArray<ChosenHost>, rejections: ReadonlyArray<string>) =>
  new SettingError({
    message: `NODE_ENV=production: no tier here isolates machines in full (${
      [...weak.map(weakness), ...rejections].join("; ")
    }). Make a stronger one work (${advice.replace(/\.$/, "")}), or accept what is lacking with SANDBOX_TIER=${
      weak[0]?.tier.name
    }`
  })

/**
 * The strongest tier that works here, or the requested one. With `strict` (production) a tier that lacks an isolation
 * guarantee is used only when requested by name.
 */
export const chooseHost = (
  home: string,
  requested: Settings["sandboxTier"],
  strict = false
): Effect.Effect<ChosenHost, SettingError> =>
  Effect.gen(function*() {
    if (process.platform !== "linux") {
      return yield* new SettingError({ message: "COMPUTE_DRIVER sandbox works on Linux only: use Docker here." })
    }
    const { tools, paths } = yield* Effect.try({
      try: () => {
        const paths = openMachinePaths(home)
        sweep(paths)
        return { paths, tools: gatherTools(join(paths.machines, ".tools"), scratchDir(paths)) }
      },
      catch: (error) =>
        new SettingError({
          message: `BERTH_HOME ${home} cannot be made ready for machines: ${
            isDiskFull(error) ? "its disk is full: make room" : String(error)
          }`
        })
    })
    const rejections: Array<string> = []
    const weak: Array<ChosenHost> = []
    for (const tier of [runc, bubblewrap, utilLinux(tools)]) {
      if (requested !== "auto" && tier.name !== requested) continue
      const attempt = yield* Effect.either(tryTier(paths, tier, tools))
      if (Either.isLeft(attempt)) rejections.push(attempt.left)
      else if (strict && requested === "auto" && weakness(attempt.right) !== undefined) weak.push(attempt.right)
      else return attempt.right
    }
    return yield* weak.length > 0 ? noTierIsolates(weak, rejections) : noTierRuns(requested, rejections)
  })
