import { type InvalidInput } from "#src/hub/ListingAnalytics.ts"
import { asBadRequest, type BadRequest, type Invalid } from "#src/shared/Failure.ts"
import { type BadQuery } from "#src/shared/query-parameters.ts"
import { type HttpServerRequest } from "@effect/platform"
import { Context, type Effect } from "effect"

/** What middleware needs to know of a route, beside its method and path. docs/architecture.md has an example. */
export interface Traits {
  /** The spelling of failure codes; `oauth`: the body of RFC 6749 §5.2. */
  readonly codes: "upper" | "lower" | "oauth"
  /** `page`: a caller that prefers HTML to JSON gets a failure as a page. */
  readonly failure: "json" | "page"
  /**
   * The kind of body, if any. `file`: a catalog, `document`: a capability document, both as multipart/form-data.
   * `message`: JSON-RPC, whose errors are reported only after the credential check.
   */
  readonly body: "json" | "form" | "file" | "document" | "message"
  /** No field of the body is required, and a missing body is read as `{}`. */
  readonly optionalBody: boolean
  /**
   * `account`: sessions, API keys and access tokens for our API. `hub`: hub keys count, too. `mcp`: hub keys, and access
   * tokens for our MCP endpoint. `machine`: only the token that the platform shares with a hosted server.
   */
  readonly credential: "account" | "hub" | "mcp" | "machine"
  /**
   * Credentials that are enough, which a 401 names; another is refused before the body is looked at. `own`: those of an
   * account, and the operation says which.
   */
  readonly takes: "own" | "session" | "sessionOrHubKey"
  /**
   * The rate limit that applies (contract: "Limits"); `discovery`: documents that clients read to get a token. `hub`: by
   * address; without its counters the request is rejected. `directoryDoor`: with the reads of the directory, any method.
   * `webhook`: events that a processor sends in bursts.
   */
  readonly rate: "caller" | "directory" | "directoryDoor" | "discovery" | "hub" | "webhook"
  /** A probe is answered in time, without authentication and rate limit. */
  readonly probe: boolean
  /** A page of any origin may read it: the response is the same for everybody (Fetch standard, CORS protocol). */
  readonly openToPages: boolean
  /** The owner of an `Idempotency-Key`, if supported: an account or, for a sign-up, an e-mail address. */
  readonly idempotency: "account" | "email" | "none"
  /** A query with broken percent-encoding is rejected. */
  readonly strictQuery: boolean
  /**
   * Parameters of the query that nobody knows: rejected, because the route takes `none` or by its `schema`; or taken as
   * `any` and ignored, where people follow links, probes ask, or another specification defines the parameters.
   */
  readonly query: "none" | "schema" | "any"
  /** What a query is that does not fit, in the code that the contract has for the route. */
  readonly wrongQuery: (error: Invalid) => BadRequest | BadQuery | InvalidInput
  /** Hosted servers may request it from inside their machines (docs/decisions/what-a-machine-reaches.md). */
  readonly forMachines: boolean
  /** The path that takes its place; until then it is deprecated (RFC 9745, RFC 8594). Parameters by name. */
  readonly successor: string | undefined
  /** It always rejects requests: `Allow` does not name its method. */
  readonly alwaysRejects: boolean
  /** Begins what the route will need while the caller is still being identified; what it reads may be for nobody. */
  readonly ahead: ((request: HttpServerRequest.HttpServerRequest) => Effect.Effect<void>) | undefined
}

export const defaults: Traits = {
  codes: "upper",
  failure: "json",
  body: "json",
  optionalBody: false,
  credential: "account",
  takes: "own",
  rate: "caller",
  probe: false,
  openToPages: false,
  idempotency: "none",
  strictQuery: false,
  query: "any",
  wrongQuery: asBadRequest,
  forMachines: false,
  successor: undefined,
  alwaysRejects: false,
  ahead: undefined
}

/** Annotates an endpoint of the contract, or a group; an endpoint's traits override its group's. */
export class RouteTraits extends Context.Tag("http/RouteTraits")<RouteTraits, Partial<Traits>>() {}

/** The result of routing a method and path. */
export interface Route {
  /** Whether a route matches. */
  readonly known: boolean
  /** The path as declared (`/v1/projects/:projectId`); empty without a match. */
  readonly path: string
  /** The methods of the path; empty for an unknown path. */
  readonly allow: ReadonlyArray<string>
  /** For an unknown path those of its area. */
  readonly traits: Traits
}

/** The route of the current request, from http/front/front-door.ts. */
export class CurrentRoute extends Context.Reference<CurrentRoute>()("http/CurrentRoute", {
  defaultValue: (): Route => ({ known: false, path: "", allow: [], traits: defaults })
}) {}
