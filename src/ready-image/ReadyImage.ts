import { CurrentSettings } from "#src/config/Settings.ts"
import { readyFolder } from "#src/images/ready-folder.ts"
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

/** The image that serves businesses: `READY_IMAGE`, or in development one built below the home. */
export class ReadyImage extends Effect.Service<ReadyImage>()("ready-server/ReadyImage", {
  effect: Effect.gen(function*() {
    const { home, production, readyImage } = yield* CurrentSettings
    const exclusively = (yield* Effect.makeSemaphore(1)).withPermits(1)
    const built = exclusively(Effect.tryPromise({
      try: () => buildReadyImage(join(home, readyFolder)),
      catch: (error) => new NoReadyImage({ reason: orDiskFull(messageOf(error)) })
    }))
    const notConfigured = new NoReadyImage({
      reason: "the operator sets READY_IMAGE to where npm run image:ready was pushed"
    })
    /** An image reference to deploy; built on first use (2 or 3 seconds). */
    const reference = Option.match(readyImage, {
      onNone: () => production ? notConfigured : Effect.map(built, ({ path }) => `oci:${path}`),
      onSome: (uri) => Effect.succeed(uri)
    })
    /** Whether a reference is a locally built one, of this home or another: its image can be built again. */
    const isLocalBuild = (imageUri: string) => imageUri.startsWith("oci:") && basename(imageUri) === readyFolder
    return { reference, isLocalBuild } as const
  })
}) {}
