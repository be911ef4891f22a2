/** Our response parameters: removed from the redirect's own query, or the client would find them twice. */
const responseParameters = new Set(["code", "state", "iss", "error", "error_description", "error_uri"])

const withoutResponseParameters = (query: string) =>
  query.split("&").filter((pair) =>
    pair !== "" && !responseParameters.has([...new URLSearchParams(pair).keys()][0] ?? "")
  ).join("&")

/**
 * The redirect back to the client: its URI with the response parameters added to the query (RFC 6749 §3.1.2, §4.1.2),
 * `iss` among them (RFC 9207). The URI is not parsed and serialised, so the registered text stays unchanged.
 */
export const redirectWith = (
  redirectUri: string,
  issuer: string,
  state: string | undefined,
  parameters: Readonly<Record<string, string>>
): string => {
  const at = redirectUri.indexOf("?")
  const base = at === -1 ? redirectUri : redirectUri.slice(0, at)
  const query = at === -1 ? "" : withoutResponseParameters(redirectUri.slice(at + 1))
  const added = new URLSearchParams({ ...parameters, ...(state === undefined ? {} : { state }), iss: issuer })
  return `${base}?${query === "" ? "" : `${query}&`}${added}`
}
