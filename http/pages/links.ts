import { type Settings } from "#src/config/Settings.ts"
import { HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"

/**
 * Paths of the pages, as a browser sees them. After a sign-in, the query says where to go: that of an authorization
 * request, which is validated again there, or one that names a page of ours (own-page.ts). There is no return URL
 * that could be abused.
 */
export const linksOf = ({ authUrl }: Pick<Settings, "authUrl">) => {
  const base = new URL(authUrl).pathname.replace(/\/$/, "")
  const link = (path: string) => (query = "") => `${base}${path}${query === "" ? "" : `?${query}`}`
  return {
    authorize: link("/api/v1/oauth/authorize"),
    signIn: link("/oauth/sign-in"),
    signUp: link("/oauth/sign-up"),
    consent: link("/oauth/consent"),
    signOut: link("/oauth/sign-out"),
    grants: link("/oauth/grants"),
    listings: link("/hub/listings"),
    usage: link("/billing/usage"),
    checkout: (id: string) => link(`/billing/checkout/${encodeURIComponent(id)}`)(),
    returned: (id: string) => link(`/billing/return/${encodeURIComponent(id)}`)(),
    listing: (id: string, query?: string) => link(`/hub/listings/${encodeURIComponent(id)}`)(query)
  } as const
}

export type Links = ReturnType<typeof linksOf>

/** The raw query of the request, without its question mark. */
export const currentQuery = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ url }) => new URL(url, "http://localhost").search.slice(1)
)
