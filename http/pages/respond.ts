import { HttpServerResponse } from "@effect/platform"
import { styleHash } from "./style.ts"

/**
 * Nothing but our own stylesheet, no frame around it (RFC 9700 §4.16), and forms that go to us alone: a browser holds
 * `form-action` against every redirect that a form's answer leads to.
 */
const policy = `default-src 'none'; style-src ${styleHash}; base-uri 'none'; frame-ancestors 'none'`

const headers = (contentSecurityPolicy: string) => ({
  "content-security-policy": contentSecurityPolicy,
  "x-frame-options": "DENY",
  "cache-control": "no-store",
  // Our forms need an `Origin`; nobody else is to see where a visitor was (RFC 9700 §4.2).
  "referrer-policy": "same-origin",
  vary: "Cookie"
})

/** A page of ours. */
export const page = (text: string, status = 200) =>
  HttpServerResponse.html(text).pipe(
    HttpServerResponse.setStatus(status),
    HttpServerResponse.setHeaders(headers(`${policy}; form-action 'self'`))
  )

/**
 * The page whose form leads to the client. Chromium would stop not only at the redirect URI, if that were not listed,
 * but at every place that this leads on to, which nobody can list (the app's own page, a scheme of an editor). So
 * nothing is said of forms here; nothing is typed into this page either.
 */
export const consentForm = (text: string, status = 200) =>
  HttpServerResponse.html(text).pipe(
    HttpServerResponse.setStatus(status),
    HttpServerResponse.setHeaders(headers(policy))
  )

/** Goes on by GET, whatever came (RFC 9700 §4.12). */
export const seeOther = (location: string) =>
  HttpServerResponse.empty({
    status: 303,
    headers: { location, "cache-control": "no-store", "referrer-policy": "no-referrer" }
  })
