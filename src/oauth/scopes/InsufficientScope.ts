import { failsWith } from "#src/shared/Failure.ts"
import { documentUrl } from "#src/shared/well-known.ts"
import { Schema } from "effect"

/** The access token is too little for a message. `scopes`: those needed and those it has, space-separated. */
export class InsufficientScope extends Schema.TaggedError<InsufficientScope>()("InsufficientScope", {
  scopes: Schema.String
}, failsWith(403)) {
  override get message() {
    return `The access token's scopes do not allow this; it takes ${this.scopes}`
  }
  /** `WWW-Authenticate` at the resource (RFC 6750 §3.1), by which clients ask their user for more (MCP, Step-Up). */
  challenge(resource: string) {
    return `Bearer error="insufficient_scope", scope="${this.scopes}", resource_metadata="${documentUrl(resource)}"`
  }
}
