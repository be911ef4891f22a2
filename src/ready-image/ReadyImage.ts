import { CurrentSettings } from "#src/config/Settings.ts"
import { orDiskFull } from "#src/shared/disk-full.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { messageOf } from "#src/shared/message-of.ts"
import { Effect, Option, Schema } from "effect"
import { basename, join } from "node:path"
import { buildReadyImage } from "./build-image.ts"

/** The installation has no image of the ready server. */
export class NoReadyImage
  extends Schema.TaggedError<NoReadyImage>()("NoReadyImage", { reason: Schema.String }, failsWith(503))
{
  override get message() {
    return `There is no image of the ready server: ${this.reason}`
  }
}

const folder = "ready-image"

/** The image that serves businesses: `READY_IMAGE`, else one made below the home, in development only. */
export class ReadyImage extends Effect.Service<ReadyImage>()("ready-server/ReadyImage", {
  effect: Effect.gen(function*() {
    const { home, production, readyImage } = yield* CurrentSettings
    const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)
    const made = oneAtATime(Effect.tryPromise({
      try: () => buildReadyImage(join(home, folder)),
      catch: (error) => new NoReadyImage({ reason: orDiskFull(messageOf(error)) })
    }))
    const set = new NoReadyImage({ reason: "the operator sets READY_IMAGE to where npm run image:ready was pushed" })
    /** An image reference to deploy; made on first use (2 or 3 seconds). */
    const reference = Option.match(readyImage, {
      onNone: () => production ? set : Effect.map(made, ({ path }) => `oci:${path}`),
      onSome: (uri) => Effect.succeed(uri)
    })
    /** Whether an address is one that `reference` gave, here or in another home: its image can be made again. */
    const isMade = (imageUri: string) => imageUri.startsWith("oci:") && basename(imageUri) === folder
    return { reference, isMade } as const
  })
}) {}
