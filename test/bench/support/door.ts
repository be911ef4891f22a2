import { freshAddress, send, type Sent } from "../../support/http.ts"

/** A running program for its accounts: each request has an address of its own, or the rate limit would be measured. */
export const doorOf = (url: string, databaseUrl: string) => ({
  url,
  databaseUrl,
  request: <Body = unknown>(method: string, path: string, { headers, ...sent }: Sent = {}) =>
    send<Body>(url, method, path, { ...sent, headers: { "x-forwarded-for": freshAddress(), ...headers } })
})
