import { CurrentSettings } from "#src/config/Settings.ts"
import { Effect, Schema } from "effect"
import { statfs } from "node:fs/promises"
import { inBytes } from "./bytes.ts"
import { type DiskState, stateOf } from "./disk-state.ts"
import { failsWith } from "./Failure.ts"

/** Less is free than the operator reserves: nothing is taken in that could fill the rest (503). */
export class LowDisk extends Schema.TaggedError<LowDisk>()("LowDisk", {}, failsWith(503)) {
  readonly retryAfter = 60
  override get message() {
    return "The platform is low on disk space and accepts no new files or images; try again later"
  }
}

/** The file system that holds `BERTH_HOME`: images, machines, the embedded database. */
export class Disk extends Effect.Service<Disk>()("shared/Disk", {
  effect: Effect.gen(function*() {
    const { diskReserve, home } = yield* CurrentSettings
    let state: DiskState = "enough"

    const tell = (free: number) => {
      const left = `${inBytes(free)} are free on the disk of ${home}`
      switch (state) {
        case "enough":
          return Effect.logInfo(`${left}: enough again`)
        case "scarce":
          return Effect.logWarning(
            `${left}; below ${inBytes(diskReserve)} (DISK_RESERVE) uploads and deploys are refused`
          )
        case "low":
          return Effect.logError(
            `${left}, less than ${inBytes(diskReserve)} (DISK_RESERVE): uploads and deploys are refused`
          )
      }
    }

    /** How things stand; the log hears of it when that changes. A disk that can't be asked is taken to have enough. */
    const look = Effect.gen(function*() {
      const free = yield* Effect.promise(() =>
        statfs(home).then(({ bavail, bsize }) => bavail * bsize, () => undefined)
      )
      if (free === undefined) return state
      const before = state
      state = stateOf(free, diskReserve, before)
      if (state !== before) yield* tell(free)
      return state
    }).pipe(Effect.withSpan("Disk.look"))

    return {
      look,
      /** Before something is taken in. */
      check: Effect.flatMap(look, (now) => now === "low" ? new LowDisk() : Effect.void)
    } as const
  })
}) {}
