import { type ServerAccess } from "#src/oauth/checks/access.ts"
import { type RedirectKind } from "#src/oauth/checks/redirect-uri.ts"
import { Data } from "effect"
import { type OAuthClient } from "./Client.ts"
import { type OAuthErrorCode } from "./OAuthError.ts"

/** The resource that access is requested to. */
export type AuthorizationTarget =
  | ({
    readonly kind: "server"
    readonly serverId: string
    readonly name: string
    readonly slug: string
    readonly publicUrl: string
  } & ServerAccess)
  | ({ readonly kind: "composite"; readonly name: string } & ServerAccess)
  | { readonly kind: "platform"; readonly name: string }

/** A valid authorization request, which lacks only the user's decision. */
export interface AuthorizationRequest {
  readonly client: OAuthClient
  /** As the client sent it, a loopback's port included. */
  readonly redirectUri: string
  readonly redirectKind: RedirectKind
  /** Canonical; the audience of the tokens. */
  readonly resource: string
  readonly target: AuthorizationTarget
  /** At least one that is not `offline_access`. */
  readonly scopes: ReadonlyArray<string>
  readonly state?: string
  readonly codeChallenge: string
  /** Registered by the server's owner, with a web redirect: may be approved without asking. */
  readonly trusted: boolean
}

/**
 * No redirect is possible, since the client or its redirect URI is not valid (RFC 6749 §4.1.2.1). Shown on our own page
 * with status 400. `message` is a sentence for the user.
 */
export class PageError extends Data.TaggedError("PageError")<{
  readonly code: "client_id" | "client_unknown" | "client_metadata" | "redirect_uri"
  readonly message: string
}> {}

/**
 * Reported to the client through `redirectTo`, which carries `error`, `state` and `iss`: by a 303 if the visitor trusts
 * the client, else by a link that the visitor may follow. `description` is a sentence without its full stop.
 */
export class RedirectError extends Data.TaggedError("RedirectError")<{
  readonly redirectTo: string
  readonly error: OAuthErrorCode
  readonly description: string
  readonly client: OAuthClient
  readonly redirectUri: string
}> {}
