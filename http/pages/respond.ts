import { conditional } from "#http/answers/conditional.ts"
import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { styleHash } from "./style.ts"

/**
 * Only our own stylesheet, no framing (RFC 9700 §4.16), and forms to our own origin: a browser applies `form-action`
 * also to every redirect after a form.
 */
const policy = `default-src 'none'; style-src ${styleHash}; base-uri 'none'; frame-ancestors 'none'`

const headers = (contentSecurityPolicy: string) => ({
  "content-security-policy": contentSecurityPolicy,
  "x-frame-options": "DENY",
  "cache-control": "no-store",
  // Our forms need an `Origin`; other sites must not see the referrer (RFC 9700 §4.2).
  "referrer-policy": "same-origin",
  vary: "Cookie"
})

/** A page that is the same for everybody, and may be kept for a while. */
export const publicPage = (request: HttpServerRequest.HttpServerRequest, text: string) =>
  conditional(request, text, "text/html; charset=utf-8", {
    "content-security-policy": `${policy}; form-action 'none'`,
    "x-frame-options": "DENY",
    "cache-control": "public, max-age=60, stale-while-revalidate=300"
  })

/** One of our pages. */
export const page = (text: string, status = 200) =>
  HttpServerResponse.html(text).pipe(
    HttpServerResponse.setStatus(status),
    HttpServerResponse.setHeaders(headers(`${policy}; form-action 'self'`))
  )

/**
 * The page whose form redirects to the client. Chromium applies `form-action` to the redirect URI and to every further
 * redirect, which can't be listed (the app's own page, a scheme of an editor). So this page has no `form-action`; it
 * has no text input either.
 */
export const consentForm = (text: string, status = 200) =>
  HttpServerResponse.html(text).pipe(
    HttpServerResponse.setStatus(status),
    HttpServerResponse.setHeaders(headers(policy))
  )

/** Redirects with GET, whatever the method was (RFC 9700 §4.12). */
export const seeOther = (location: string) =>
  HttpServerResponse.empty({
    status: 303,
    headers: { location, "cache-control": "no-store", "referrer-policy": "no-referrer" }
  })
