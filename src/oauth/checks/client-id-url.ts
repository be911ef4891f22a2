import { parseUrl } from "#src/format/parse-url.ts"
import { isException } from "#src/shared/private-addresses.ts"

const longest = 2048
const dotSegment = /\/(\.|%2e){1,2}(?=[/?]|$)/i
const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"])

/** Whether a client id has the form of a metadata document's URL; any other was issued by us. */
export const isClientIdUrl = (clientId: string) => /^https?:/i.test(clientId)

/**
 * Why a URL can't be a client id, or undefined when it can (draft-ietf-oauth-client-id-metadata-document §3). Plain
 * http is for the operator's exceptions on the same machine only. The URL must be in normal form: ids are compared as
 * strings, so one client must not have two.
 */
export const clientIdUrlProblem = (text: string, allowedPrivateHosts: ReadonlyArray<string>): string | undefined => {
  if (text.length > longest) return `must be at most ${longest} characters`
  const url = /^[\x21-\x7e]+$/.test(text) ? parseUrl(text) : undefined
  if (url === undefined) return "must be an https URL"
  const excepted = url.protocol === "http:" && loopbackHosts.has(url.hostname) && isException(url, allowedPrivateHosts)
  if (url.protocol !== "https:" && !excepted) return "must be an https URL"
  if (url.username !== "" || url.password !== "") return "must not carry a user name or password"
  if (text.includes("#")) return "must not have a fragment"
  // Tested on the raw text, since the parser resolves them, encoded ones too.
  if (dotSegment.test(text.replace(/\?.*$/, ""))) return "must not have dot segments"
  if (url.pathname === "/") return "must have a path"
  return url.href === text ? undefined : `must be written in its normal form, ${url.href}`
}
