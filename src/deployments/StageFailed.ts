import { Schema } from "effect"
import { Stage } from "./Deployment.ts"

/** A stage failed; `cause` says why, for the owner of the server. */
export class StageFailed extends Schema.TaggedError<StageFailed>()("StageFailed", {
  stage: Stage,
  cause: Schema.String
}) {
  override get message() {
    return `${this.stage}: ${this.cause}`
  }
}

/** The deployment was deleted with its server, or was ended elsewhere. */
export class Gone extends Schema.TaggedError<Gone>()("Gone", {}) {}
