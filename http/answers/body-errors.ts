import { failsWith } from "#src/shared/Failure.ts"
import { Schema } from "effect"

export class BodyTooLarge
  extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", { limit: Schema.Int }, failsWith(413))
{
  override get message() {
    return `The body is larger than ${this.limit / 1024} KiB`
  }
}

/** RFC 9110 §15.5.16. A body that nothing decodes would be read as what it is not. */
export class UnknownCoding extends Schema.TaggedError<UnknownCoding>()(
  "UnknownCoding",
  { coding: Schema.String },
  failsWith(415)
) {
  override get message() {
    return `The body's Content-Encoding ${JSON.stringify(this.coding)} is not understood: send it as it is, without one`
  }
}

export class BodyTooSlow extends Schema.TaggedError<BodyTooSlow>()("BodyTooSlow", {}, failsWith(408)) {
  override get message() {
    return "The body did not arrive in time"
  }
}
