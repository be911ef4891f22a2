import { failsWith } from "#src/shared/Failure.ts"
import { Input, Text, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { createHash } from "node:crypto"

/** `metadata`: its id is the URL of its document; `dynamic`: it registered itself (RFC 7591) and got an id from us. */
export const ClientKind = Schema.Literal("metadata", "dynamic")

export interface OAuthClient {
  readonly clientId: string
  readonly kind: typeof ClientKind.Type
  readonly clientName: string
  readonly redirectUris: ReadonlyArray<string>
  /** The scopes that it registered, space-separated; absent when it registered none. */
  readonly scope?: string
  /** The grant types that it registered (RFC 7591 §2). */
  readonly grantTypes: ReadonlyArray<string>
  /** When its document was last fetched, or found unchanged; absent for a dynamic client. */
  readonly lastFetchedAt?: Date
  readonly registeredAt: Date
}

/**
 * Identifies what a consent was given to: 32 bytes that change with the client's set of redirects or its authentication
 * method (always `none` here), not with the order of the redirects.
 */
export const consentHash = ({ clientId, redirectUris }: Pick<OAuthClient, "clientId" | "redirectUris">) =>
  createHash("sha256").update(JSON.stringify([clientId, "none", [...new Set(redirectUris)].sort()])).digest()

/** `POST /api/v1/servers/:id/clients`. */
export const preRegistrationFields = {
  clientMetadataUrl: Text(2048).annotations({
    description: "The https URL of the client's metadata document, which is the client's id"
  })
}
export const PreRegistration = Input(preRegistrationFields)

export const PreRegisteredClient = Schema.Struct({
  clientId: Schema.String.annotations({ description: "The URL of its metadata document" }),
  clientName: Schema.String,
  redirectUris: Schema.Array(Schema.String),
  registeredAt: Timestamp.annotations({ description: "When it was first registered for this server" }),
  lastFetchedAt: Timestamp.annotations({ description: "When its document was last fetched, or found unchanged" })
}).annotations({ title: "PreRegisteredClient" })
export type PreRegisteredClient = typeof PreRegisteredClient.Type

/** No client has the id: it is not a URL, and it was never registered, or was removed as unused (404). */
export class ClientUnknown extends Schema.TaggedError<ClientUnknown>()("ClientUnknown", {}, failsWith(404)) {
  override get message() {
    return "No client has this client_id"
  }
}

/** The id is a URL that can't be a client id, or its document can't be fetched or is invalid (422). */
export class ClientMetadataError extends Schema.TaggedError<ClientMetadataError>()("ClientMetadataError", {
  clientId: Schema.String,
  reason: Schema.String
}, failsWith(422)) {
  override get message() {
    return `The client's metadata document can't be used: ${this.reason}`
  }
  get details() {
    return { issues: [{ path: "clientMetadataUrl", message: this.reason }] }
  }
}

/** The server has the maximum of pre-registered clients (409). */
export class TooManyClients extends Schema.TaggedError<TooManyClients>()("TooManyClients", {}, failsWith(409)) {
  override get message() {
    return "A server has at most 100 pre-registered clients"
  }
}

/** One address registered too many clients within the hour (429). */
export class TooManyRegistrations extends Schema.TaggedError<TooManyRegistrations>()("TooManyRegistrations", {
  /** Seconds. */
  retryAfter: Schema.Int
}, failsWith(429)) {
  override get message() {
    return `Too many clients were registered from here; try again in ${this.retryAfter} seconds`
  }
}
