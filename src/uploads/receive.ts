import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { ImageLimits } from "#src/images/limits.ts"
import { inBytes } from "#src/shared/bytes.ts"
import { diskFull, isDiskFull } from "#src/shared/disk-full.ts"
import { Disk } from "#src/shared/Disk.ts"
import { Cause, Effect, Exit, Runtime } from "effect"
import { type Readable } from "node:stream"
import { type Way } from "./make-way.ts"
import { Refusal, refused } from "./Refusal.ts"
import { UploadFiles } from "./UploadFiles.ts"
import { UploadQuota } from "./UploadQuota.ts"
import { UploadsRepo } from "./UploadsRepo.ts"

/** A part of a blob, as a request brings it. */
export interface Piece {
  readonly bytes: Readable
  /** Where it begins, if the client says so. */
  readonly from: number | undefined
  /** How long it is, if the client says so. */
  readonly length: number | undefined
}

/** How a push fails when the client goes away; nobody reads it. */
const isCut = (error: unknown) =>
  error instanceof Error && "code" in error &&
  ["ECONNRESET", "ABORT_ERR", "ERR_STREAM_PREMATURE_CLOSE", "ERR_STREAM_DESTROYED"].includes(String(error.code))

const reasonOf = (error: unknown): Refusal | undefined => {
  if (error instanceof Refusal) return error
  if (isDiskFull(error)) return refused("DISK_FULL", diskFull)
  return isCut(error) ? refused("BLOB_UPLOAD_INVALID", "The connection was cut; what arrived was kept") : undefined
}

const isFull = ({ code }: Refusal) => code === "DISK_FULL"

/** Takes the bytes of uploads: as many as the plan, the disk and an image's size allow. */
export const makeReceive = (way: Way) =>
  Effect.gen(function*() {
    const repo = yield* UploadsRepo
    const files = yield* UploadFiles
    const quota = yield* UploadQuota
    const disk = yield* Disk
    const limits = yield* ImageLimits
    const runtime = yield* Effect.runtime()

    const check = Effect.flatMap(CurrentActor, ({ accountId }) =>
      Effect.catchTag(disk.check, "LowDisk", ({ message }) =>
        refused("DISK_FULL", message)).pipe(
          way.orWithout(accountId, isFull)
        ))

    const storing = <A>(work: () => Promise<A>): Effect.Effect<A, Refusal> =>
      Effect.tryPromise(work).pipe(Effect.catchAll(({ error }) =>
        reasonOf(error) ?? Effect.die(error)
      ))

    const reserve = Effect.fnUntraced(function*(id: string, total: number, ahead = false) {
      const actor = yield* CurrentActor
      if (total > limits.image) {
        return yield* refused("SIZE_INVALID", `A blob may have ${inBytes(limits.image)} at most`)
      }
      const write = Effect.flatMap(
        repo.reserve(id, total),
        (isThere) => isThere ? Effect.void : refused("BLOB_UPLOAD_UNKNOWN", "The upload has ended")
      )
      const admit = quota.admit(actor, total, id, write)
      // Bytes that may never come are no reason to end another upload.
      if (ahead) return yield* admit
      yield* way.orWithout(actor.accountId, ({ code }) => code === "DENIED", (other) => other.id !== id)(admit)
    })

    const append = Effect.fn("Uploads.receive")(function*(id: string, { bytes, from, length }: Piece) {
      const actor = yield* CurrentActor
      const size = yield* Effect.promise(() => files.size(id))
      if (from !== undefined && from !== size) {
        return yield* refused("RANGE_INVALID", `${size} bytes have arrived: go on with byte ${size}`, { size })
      }
      yield* check
      if (length !== undefined && length > 0) yield* reserve(id, size + length)
      const more = async (total: number, ahead: boolean) => {
        if (length !== undefined && total <= size + length) return
        const exit = await Runtime.runPromiseExit(runtime)(
          Effect.provideService(reserve(id, total, ahead), CurrentActor, actor)
        )
        if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
      }
      const settle = Effect.flatMap(Effect.promise(() => files.size(id)), (now) => repo.reserve(id, now))
      return yield* storing(() => files.append(id, size, bytes, more)).pipe(
        Effect.ensuring(settle),
        // The bytes are gone by then: room is made for who sends them again.
        Effect.tapError((refusal) => isFull(refusal) ? way.all(actor.accountId) : Effect.void)
      )
    })

    return { check, storing, append } as const
  })
