import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"

export const GrantId = Id("GrantId", "Grant id, gra_ and a ULID")

/** The `client_id` of tokens for members of composites, and of the grants that they come of. */
export const compositesClientId = "berth-composites"

/** The `client_id` of tokens that were exchanged for a credential of the account, and of the grants that they come of. */
export const exchangeClientId = "berth-token-exchange"

/** Grants of our own making: nobody is asked when they are made, so their user can take back a revocation. */
export const renewableClientIds = [compositesClientId, exchangeClientId]

/** The access that a user granted to a client. */
export const Grant = Schema.Struct({
  id: GrantId,
  clientId: Schema.String.annotations({
    description:
      "The URL of its metadata document, or the id it was given; berth-composites: what the user reached through " +
      "composites; berth-token-exchange: what tokens were exchanged for"
  }),
  clientName: Schema.NullOr(Schema.String).annotations({ description: "As the client calls itself" }),
  resource: Schema.String.annotations({
    description: "What the access is to: the URL of a server, a composite, or Berth's own MCP endpoint"
  }),
  serverId: Schema.NullOr(Schema.String).annotations({
    description: "Null for a composite and Berth's own MCP endpoint"
  }),
  serverName: Schema.NullOr(Schema.String),
  scopes: Schema.Array(Schema.String),
  createdAt: Timestamp,
  updatedAt: Timestamp.annotations({ description: "When it was last approved, or got more scopes" })
}).annotations({ title: "Grant" })
export type Grant = typeof Grant.Type

export class GrantNotFound extends Schema.TaggedError<GrantNotFound>()("GrantNotFound", {}, failsWith(404)) {
  override get message() {
    return "There is no such grant"
  }
}
