import { createHash } from "node:crypto"
import { type Answer, type Sent } from "../../support/http.ts"
import { newVerifier, type Side, web } from "./sides.ts"

/** Changes the parameters of a request that would be in order. */
export type Change = (params: URLSearchParams, side: Side) => void

export const nothing: Change = () => undefined
export const without = (...names: ReadonlyArray<string>): Change => (params) => {
  for (const name of names) params.delete(name)
}
export const withValue =
  (name: string, value: string | ((side: Side, now: string) => string)): Change => (params, side) =>
    params.set(name, typeof value === "string" ? value : value(side, params.get(name) ?? ""))
/** The parameter once more, with its own value or another. */
export const twice = (name: string, value?: (side: Side) => string): Change => (params, side) =>
  params.append(name, value?.(side) ?? params.get(name) ?? "")
export const both = (...changes: ReadonlyArray<Change>): Change => (params, side) => {
  for (const change of changes) change(params, side)
}

const challengeOf = (verifier: string) => createHash("sha256").update(verifier).digest("base64url")

/** `ok`, or the error it names, or the status when it names none. */
export const verdict = ({ body, status }: Answer): string => {
  if (status === 200 || status === 201) return "ok"
  const { error } = (body ?? {}) as { readonly error?: unknown }
  return typeof error === "string" && error !== "" ? error : String(status)
}

const formHeaders = { "content-type": "application/x-www-form-urlencoded" }

/** Sends a form, or what stands in its place. */
export const post = (
  side: Side,
  endpoint: "token" | "revoke" | "introspect",
  params: URLSearchParams,
  { body, headers }: Sent = {}
) => side.send(endpoint, "POST", { body: body ?? String(params), headers: { ...formHeaders, ...headers } })

const authorization = (side: Side, verifier: string) =>
  new URLSearchParams({
    response_type: "code",
    client_id: side.clientId,
    redirect_uri: web,
    scope: "mcp:read mcp:execute offline_access",
    resource: side.resource,
    state: "state",
    code_challenge: challengeOf(verifier),
    code_challenge_method: "S256"
  })

/** `code`; `page`: shown to the user, not told the client; else the error that the client is told, with state and iss. */
export const authorize = (change: Change) => async (side: Side) => {
  const params = authorization(side, newVerifier())
  change(params, side)
  const to = await side.authorize(params)
  if (to === undefined) return "page"
  const answer = to.hash === "" ? to.searchParams : new URLSearchParams(to.hash.slice(1))
  return answer.has("code") ? "code" : answer.get("error") ?? "neither"
}

export interface Held {
  readonly verifier: string
  readonly code: string
  readonly redirectUri: string
  readonly resource: string
}

export const newCode = async (side: Side, change: Change = nothing): Promise<Held> => {
  const verifier = newVerifier()
  const params = authorization(side, verifier)
  change(params, side)
  const code = (await side.authorize(params))?.searchParams.get("code")
  if (code == null) throw new Error("expected a code")
  return { verifier, code, redirectUri: params.get("redirect_uri") ?? "", resource: params.get("resource") ?? "" }
}

export const codeForm = (side: Side, { code, redirectUri, resource, verifier }: Held) =>
  new URLSearchParams({
    grant_type: "authorization_code",
    client_id: side.clientId,
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    resource
  })

export interface TokenSet {
  readonly access_token: string
  readonly refresh_token: string
}

/** The tokens that a code is exchanged for. */
export const newTokens = async (side: Side, change: Change = nothing): Promise<TokenSet & Held> => {
  const held = await newCode(side, change)
  const answer = await post(side, "token", codeForm(side, held))
  if (answer.status !== 200) throw new Error(`expected tokens, got ${answer.status}: ${answer.text}`)
  return { ...held, ...(answer.body as TokenSet) }
}

/** Exchanges a fresh code. */
export const exchange =
  (change: Change, sent: Sent | ((side: Side) => Sent) = {}, asked: Change = nothing) => async (side: Side) => {
    const params = codeForm(side, await newCode(side, asked))
    change(params, side)
    return verdict(await post(side, "token", params, typeof sent === "function" ? sent(side) : sent))
  }

export const refreshForm = (side: Side, token: string) =>
  new URLSearchParams({ grant_type: "refresh_token", client_id: side.clientId, refresh_token: token })

/** Refreshes with a fresh refresh token. */
export const refresh = (change: Change, sent: Sent = {}, asked: Change = nothing) => async (side: Side) => {
  const params = refreshForm(side, (await newTokens(side, asked)).refresh_token)
  change(params, side)
  return verdict(await post(side, "token", params, sent))
}

/** Registers a client that would be in order, but for the fields given; undefined leaves one out. */
export const register = (fields: Readonly<Record<string, unknown>>, sent: Sent = {}) => async (side: Side) => {
  const body = {
    client_name: "Client",
    redirect_uris: [web],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "native",
    ...fields
  }
  return verdict(await side.send("register", "POST", { body, ...sent }))
}

/** Revokes a fresh refresh token. */
export const revoke = (change: Change, sent: Sent = {}) => async (side: Side) => {
  const { refresh_token } = await newTokens(side)
  const params = new URLSearchParams({ token: refresh_token, client_id: side.clientId })
  change(params, side)
  return verdict(await post(side, "revoke", params, sent))
}

/** Asks about a token of a fresh set: `active`, `inactive` or the error. */
export const introspect = (
  pick: (tokens: TokenSet & Held, side: Side) => string | Promise<string>,
  change: Change = nothing,
  sent: Sent | ((side: Side) => Sent) = {},
  asked: Change = nothing
) =>
async (side: Side) => {
  const params = new URLSearchParams({ token: await pick(await newTokens(side, asked), side) })
  change(params, side)
  const answer = await post(side, "introspect", params, {
    headers: { authorization: side.introspector },
    ...(typeof sent === "function" ? sent(side) : sent)
  })
  if (answer.status !== 200) return verdict(answer)
  return (answer.body as { readonly active: boolean }).active ? "active" : "inactive"
}
