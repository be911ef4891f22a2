import { failsWith } from "#src/shared/Failure.ts"
import { Input, Text, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { createHash } from "node:crypto"

/** `metadata`: its id is the URL of its document; `dynamic`: it registered itself (RFC 7591) and we made the id. */
export const ClientKind = Schema.Literal("metadata", "dynamic")

export interface OAuthClient {
  readonly clientId: string
  readonly kind: typeof ClientKind.Type
  readonly clientName: string
  readonly redirectUris: ReadonlyArray<string>
  /** What it said it will ask for, space-separated; absent when it did not say. */
  readonly scope?: string
  /** How it said that it gets its tokens (RFC 7591 §2). */
  readonly grantTypes: ReadonlyArray<string>
  /** When its document was last had from its host, or found unchanged; absent for a dynamic one. */
  readonly lastFetchedAt?: Date
  readonly registeredAt: Date
}

/**
 * What a consent was given to: 32 bytes that change when the client's redirects do, in whatever order they are listed,
 * or how it proves who it is (`none`, for all of ours).
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

/** No client has the id: it is no URL, and nobody registered it, or so long ago that it was dropped unused (404). */
export class ClientUnknown extends Schema.TaggedError<ClientUnknown>()("ClientUnknown", {}, failsWith(404)) {
  override get message() {
    return "No client has this client_id"
  }
}

/** The id is a URL that can't be one, or its document could not be had or is not valid (422). */
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

/** A server has its share of pre-registered clients already (409). */
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
