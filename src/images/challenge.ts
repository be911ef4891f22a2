import { parseUrl } from "#src/format/parse-url.ts"

/** Where to get a token for a registry, and for which service and scope. */
export interface BearerChallenge {
  readonly realm: string
  readonly service: string | undefined
  readonly scope: string | undefined
}

const parameter = /([a-zA-Z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g

/**
 * The Bearer challenge of a `WWW-Authenticate` header (RFC 6750 §3, distribution "token" specification); undefined when
 * the header has none with a realm.
 */
export const bearerChallenge = (header: string | undefined): BearerChallenge | undefined => {
  const start = header === undefined ? -1 : header.slice(0, 4096).search(/(?:^|,\s*)bearer\s/i)
  if (header === undefined || start < 0) return undefined
  const parameters = new Map<string, string>()
  for (const [, name = "", quoted, plain] of header.slice(start, 4096).matchAll(parameter)) {
    const key = name.toLowerCase()
    if (!parameters.has(key)) parameters.set(key, quoted === undefined ? plain ?? "" : quoted.replace(/\\(.)/g, "$1"))
  }
  const realm = parameters.get("realm")
  return realm === undefined ? undefined : { realm, service: parameters.get("service"), scope: parameters.get("scope") }
}

/** Whether a `WWW-Authenticate` header asks for a name and a password (RFC 7617 §2). */
export const asksBasic = (header: string | undefined) =>
  header !== undefined && /(?:^|,\s*)basic(?:\s|,|$)/i.test(header.slice(0, 4096))

/** The token endpoint's URL for a challenge; undefined when the realm is not a URL. */
export const tokenUrl = (challenge: BearerChallenge, defaultScope: string): string | undefined => {
  const url = parseUrl(challenge.realm)
  if (url === undefined) return undefined
  if (challenge.service !== undefined) url.searchParams.set("service", challenge.service)
  url.searchParams.set("scope", challenge.scope ?? defaultScope)
  return url.href
}
