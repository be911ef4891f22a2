import { type HubTier } from "#src/plans/HubTier.ts"
import { type PlanName } from "#src/plans/Plan.ts"
import { Context, Schema } from "effect"

export const AccountId = Schema.String.pipe(Schema.brand("AccountId"))
export type AccountId = typeof AccountId.Type

/** Scopes of platform keys (contract: Platform resources). */
export const Scope = Schema.Literal(
  "servers:read",
  "servers:write",
  "deployments:read",
  "deployments:write",
  "logs:read",
  "metrics:read",
  "billing:read"
)
export type Scope = typeof Scope.Type

/** The OAuth scope for operations that otherwise need a session. */
export const accountScope = "account"
export type GrantedScope = Scope | typeof accountScope

/**
 * The credential that a request came with. A key sees its own project only and has the scopes it was given; an OAuth
 * client acts in all projects of its user, within the scopes that were granted to it.
 */
export type Credential =
  | { readonly kind: "session"; readonly id: string; readonly expiresAt: Date }
  | {
    readonly kind: "key"
    readonly id: string
    readonly projectId: string
    readonly environment: "live" | "test"
    readonly scopes: ReadonlySet<Scope>
  }
  /** `id` is the client's: the same for all its tokens. `familyId` is the token family of one authorization. */
  | {
    readonly kind: "oauth"
    readonly id: string
    readonly familyId: string
    readonly scopes: ReadonlySet<GrantedScope>
    /** MCP scopes of a token for one composite, separated by spaces; such a token has no others. */
    readonly compositeScope?: string
    /** It reaches only what everybody may use, as a hub key does. */
    readonly forEverybody?: boolean
  }
  /** For the hub's reads only. `usedToday`: with this request; `resetAt`: midnight UTC, in Unix seconds. */
  | {
    readonly kind: "hub"
    readonly id: string
    readonly tier: HubTier
    readonly usedToday: number
    readonly resetAt: number
  }

export interface Actor {
  readonly accountId: AccountId
  readonly email: string
  readonly plan: PlanName
  readonly credential: Credential
}

/**
 * Who is calling. Provided per request by the HTTP and MCP edges.
 *
 * @effect-leakable-service
 */
export class CurrentActor extends Context.Tag("accounts/CurrentActor")<CurrentActor, Actor>() {}
