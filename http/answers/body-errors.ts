import { failsWith } from "#src/shared/Failure.ts"
import { Schema } from "effect"

export class BodyTooLarge
  extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", { limit: Schema.Int }, failsWith(413))
{
  override get message() {
    return `The body is larger than ${this.limit / 1024} KiB`
  }
}

export class BodyTooSlow
  extends Schema.TaggedError<BodyTooSlow>()("BodyTooSlow", {}, failsWith(408, "REQUEST_TIMEOUT"))
{
  override get message() {
    return "The body did not arrive in time"
  }
}
