import { parseUrl } from "#src/format/parse-url.ts"
import type { IncomingHttpHeaders } from "node:http"
import type { GuardedRequest } from "./GuardedHttp.ts"

const redirects = new Set([301, 302, 303, 307, 308])

const changesToGet = (status: number, method: string) =>
  status === 303 && method !== "HEAD" || (status === 301 || status === 302) && method === "POST"

const withoutCredentials = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(authorization|cookie)$/i.test(name)))

/**
 * The request that a redirect leads to, or undefined when the response is not a redirect (RFC 9110 §15.4). Credentials
 * are dropped when the scheme, host or port changes.
 */
export const nextHop = (
  request: GuardedRequest,
  response: { readonly status: number; readonly headers: Readonly<IncomingHttpHeaders> }
): GuardedRequest | undefined => {
  const location = response.headers.location
  if (!redirects.has(response.status) || location === undefined) return undefined
  const from = new URL(request.url)
  const to = parseUrl(location, from)
  if (to === undefined) return undefined
  const { body, ...rest } = request
  const headers = request.headers ?? {}
  return {
    ...rest,
    ...(changesToGet(response.status, request.method ?? "GET")
      ? { method: "GET" }
      : body === undefined
      ? {}
      : { body }),
    url: to.href,
    headers: to.origin === from.origin ? headers : withoutCredentials(headers)
  }
}
