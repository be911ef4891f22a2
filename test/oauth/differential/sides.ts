import { randomBytes } from "node:crypto"
import { type Berth } from "../../support/Berth.ts"
import { type Answer, freshAddress, send, type Sent } from "../../support/http.ts"
import { newFlow, replayToken } from "../../support/oauth.ts"
import { PlainBrowser, returnLink } from "../../support/pages.ts"
import { introspector, startOracle } from "./oracle.ts"

export const web = "https://client.example/callback"
const other = "https://client.example/other"
export const loopback = "http://127.0.0.1/callback"
export const app = "com.example.app:/callback"

type Endpoint = "authorize" | "token" | "register" | "revoke" | "introspect"

/** One of the two servers: the same clients are registered at both, and both know the same two resources. */
export interface Side {
  readonly send: (endpoint: Endpoint, method: string, sent?: Sent & { readonly query?: string }) => Promise<Answer>
  /** Where an authorization request ends when its user agrees: at a redirect, or at a page. */
  readonly authorize: (query: URLSearchParams) => Promise<URL | undefined>
  /** The `Authorization` header of who may ask about tokens. */
  readonly introspector: string
  readonly clientId: string
  /** Another client with the same redirects. */
  readonly otherClientId: string
  /** The URLs of two servers. */
  readonly resource: string
  readonly otherResource: string
}

const metadata = (name: string) => ({
  client_name: name,
  redirect_uris: [web, other, loopback, app],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
  // Silence means `web`, which may not name http at all (OpenID Registration §2); here it is ignored.
  application_type: "native"
})

const registered = async (send: Side["send"], name: string) => {
  const { body, status, text } = await send("register", "POST", { body: metadata(name) })
  if (status !== 201) throw new Error(`expected a client, got ${status}: ${text}`)
  return (body as { readonly client_id: string }).client_id
}

const clients = async (send: Side["send"]) => ({
  clientId: await registered(send, "One"),
  otherClientId: await registered(send, "Another")
})

const leadsTo = ({ headers, status }: Answer) => {
  const location = headers.get("location")
  return (status === 302 || status === 303) && location !== null
    ? new URL(location, "http://relative.invalid")
    : undefined
}

/** Berth and oidc-provider, made alike. */
export const startSides = async (berth: Berth) => {
  const flow = await newFlow(berth)
  const resource = flow.server.publicUrl
  const { publicUrl: otherResource } = await flow.owner.server(flow.project.id)
  const resources = { resource, otherResource }

  const sendOurs: Side["send"] = (endpoint, method, { query = "", ...sent } = {}) =>
    berth.request(method, `/api/v1/oauth/${endpoint}${query}`, {
      ...sent,
      headers: { "x-forwarded-for": freshAddress(), ...sent.headers }
    })
  const ours: Side = {
    ...resources,
    ...await clients(sendOurs),
    send: sendOurs,
    introspector: `Bearer ${await replayToken(berth, flow.server.id)}`,
    authorize: async (query) => {
      const browser = new PlainBrowser(berth)
      browser.cookies.set("svc_session", flow.user.token)
      const page = await browser.go(`/api/v1/oauth/authorize?${query}`)
      // A client that this user has not consented to yet hears of an error when the user follows the page's link.
      if (page.status === 400) return returnLink(page.text)
      return leadsTo(page.status === 200 ? await browser.submit({ decision: "allow" }) : page)
    }
  }

  const oracle = await startOracle([resource, otherResource])
  const paths: Readonly<Record<Endpoint, string>> = {
    authorize: "/auth",
    token: "/token",
    register: "/reg",
    revoke: "/token/revocation",
    introspect: "/token/introspection"
  }
  const sendTheirs: Side["send"] = (endpoint, method, { query = "", ...sent } = {}) =>
    send(oracle.issuer, method, paths[endpoint] + query, sent)
  const { client_id, client_secret } = introspector
  const theirs: Side = {
    ...resources,
    ...await clients(sendTheirs),
    send: sendTheirs,
    introspector: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString("base64")}`,
    authorize: async (query) => leadsTo(await sendTheirs("authorize", "GET", { query: `?${query}` }))
  }
  return { ours, theirs, stop: oracle.stop }
}

let ahead = 0
const realNow = Date.now

/** Moves the clock of both servers: they run in this process. The database's stays. */
export const later = (seconds: number) => {
  ahead += seconds * 1000
  Date.now = () => realNow() + ahead
}
export const resetClock = () => {
  Date.now = realNow
}

export const newVerifier = () => randomBytes(32).toString("base64url")
