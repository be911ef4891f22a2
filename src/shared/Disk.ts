import { CurrentSettings } from "#src/config/Settings.ts"
import { Effect, Schema } from "effect"
import { statfs } from "node:fs/promises"
import { inBytes } from "./bytes.ts"
import { diskFull } from "./disk-full.ts"
import { type DiskState, stateOf } from "./disk-state.ts"
import { failsWith } from "./Failure.ts"

/** Less is free than the operator's reserve: uploads and deploys are rejected (503). */
export class LowDisk extends Schema.TaggedError<LowDisk>()("LowDisk", {}, failsWith(503)) {
  readonly retryAfter = 60
  override get message() {
    return "The platform is low on disk space and accepts no new files or images; try again later"
  }
}

/** What was asked for did not fit on the disk, and was not done. */
export class NoRoom extends Schema.TaggedError<NoRoom>()("NoRoom", {}, failsWith(503)) {
  readonly retryAfter = 60
  override get message() {
    return diskFull
  }
}

/** The file system that holds `BERTH_HOME`: images, machines, the embedded database. */
export class Disk extends Effect.Service<Disk>()("shared/Disk", {
  effect: Effect.gen(function*() {
    const { diskReserve, home } = yield* CurrentSettings
    let state: DiskState = "enough"

    const logState = (free: number) => {
      const freeText = `${inBytes(free)} are free on the disk of ${home}`
      switch (state) {
        case "enough":
          return Effect.logInfo(`${freeText}: enough again`)
        case "scarce":
          return Effect.logWarning(
            `${freeText}; below ${inBytes(diskReserve)} (DISK_RESERVE) uploads and deploys are refused`
          )
        case "low":
          return Effect.logError(
            `${freeText}, less than ${inBytes(diskReserve)} (DISK_RESERVE): uploads and deploys are refused`
          )
      }
    }

    /** Measures free space, and logs a change of state. A failed measurement changes nothing. */
    const measure = Effect.gen(function*() {
      const free = yield* Effect.promise(() =>
        statfs(home).then(({ bavail, bsize }) => bavail * bsize, () => undefined)
      )
      if (free === undefined) return state
      const before = state
      state = stateOf(free, diskReserve, before)
      if (state !== before) yield* logState(free)
      return state
    }).pipe(Effect.withSpan("Disk.look"))

    return {
      measure,
      /** Call this before an upload or deploy. */
      check: Effect.flatMap(measure, (now) => now === "low" ? new LowDisk() : Effect.void)
    } as const
  })
}) {}
