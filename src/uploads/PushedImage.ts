import { failsWith } from "#src/shared/Failure.ts"
import { Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"

/** A manifest that was pushed to `/v2`: an image, or an index of images for several platforms. */
export const PushedImage = Schema.Struct({
  repository: Schema.String.annotations({ description: "Without the project's name" }),
  digest: Schema.String,
  tags: Schema.Array(Schema.String),
  mediaType: Schema.String,
  sizeBytes: Schema.Int.annotations({
    description: "Of what it names and of itself. Layers that images share count in each; an index counts alone"
  }),
  imageUri: Schema.String.annotations({ description: "What `deploy` takes, by digest" }),
  pushedAt: Timestamp
}).annotations({ title: "PushedImage" })

export const PushedImageRow = Schema.Struct({
  ...PushedImage.omit("imageUri", "pushedAt").fields,
  pushedAt: Schema.DateFromSelf
})

export class PushedImageNotFound
  extends Schema.TaggedError<PushedImageNotFound>()("PushedImageNotFound", {}, failsWith(404))
{
  override get message() {
    return "The project has no pushed image of this digest"
  }
}

/** An index names it: without it the index would be broken. */
export class PushedImageNamed extends Schema.TaggedError<PushedImageNamed>()("PushedImageNamed", {
  index: Schema.String
}, failsWith(409)) {
  override get message() {
    return `The index ${this.index} names this image: delete that, and what it alone names goes with it`
  }
}
