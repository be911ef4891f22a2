import { Context } from "effect"

/** What middleware needs to know of a route, beside its method and path. docs/architecture.md has an example. */
export interface Traits {
  /** How failures spell their code; `oauth`: the body is that of RFC 6749 §5.2. */
  readonly codes: "upper" | "lower" | "oauth"
  /** `page`: a browser that would rather have HTML than JSON is shown a failure as a page. */
  readonly failure: "json" | "page"
  /** What its body is, if it has one. `message` is one of JSON-RPC, whose faults wait until the credential was looked at. */
  readonly body: "json" | "form" | "file" | "message"
  /** `door`: access tokens count too. `machine`: the token that the platform and a hosted server share, and no other. */
  readonly credential: "account" | "door" | "machine"
  /** Which limit a request counts against (contract: "Limits"); `discovery` is for what clients read before they have a token. */
  readonly rate: "caller" | "directory" | "discovery"
  /** A probe is answered in time, whoever asks and how often. */
  readonly probe: boolean
  /** A page of any origin may read it: it shows everybody the same (Fetch standard, CORS protocol). */
  readonly openToPages: boolean
  /** Whose an `Idempotency-Key` is, where one counts: an account's or, of a sign-up, an e-mail address's. */
  readonly idempotency: "account" | "email" | "none"
  /** A query whose percent-encoding is broken is refused. */
  readonly strictQuery: boolean
  /** Hosted servers may ask for it from inside their machines (docs/decisions/what-a-machine-reaches.md). */
  readonly forMachines: boolean
  /** It is there to refuse: `Allow` does not name its method. */
  readonly refuses: boolean
}

export const defaults: Traits = {
  codes: "upper",
  failure: "json",
  body: "json",
  credential: "account",
  rate: "caller",
  probe: false,
  openToPages: false,
  idempotency: "none",
  strictQuery: false,
  forMachines: false,
  refuses: false
}

/** Annotates an endpoint of the contract, or a group of them; an endpoint's go before its group's. */
export class RouteTraits extends Context.Tag("http/RouteTraits")<RouteTraits, Partial<Traits>>() {}

/** What a request's method and path lead to. */
export interface Route {
  /** Whether something answers this method here. */
  readonly known: boolean
  /** The path as it was declared (`/v1/projects/:projectId`); empty when nothing answers. */
  readonly path: string
  /** The methods that are answered at the path; empty when nothing is there. */
  readonly allow: ReadonlyArray<string>
  /** Of a path that nothing is at, those of its area. */
  readonly traits: Traits
}

/** The route of the request in hand, found once at the front door. */
export class CurrentRoute extends Context.Reference<CurrentRoute>()("http/CurrentRoute", {
  defaultValue: (): Route => ({ known: false, path: "", allow: [], traits: defaults })
}) {}
