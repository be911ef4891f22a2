import { once } from "node:events"
import { createServer } from "node:http"
import { afterAll, beforeAll } from "vitest"
import { type Berth } from "../support/Berth.ts"

const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

/** A client's callback on this machine: keeps what it was sent. `/hop` leads on to another origin. */
export const useCallback = () => {
  const received: Array<URL> = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", origin())
    if (url.pathname === "/favicon.ico") return response.writeHead(404).end()
    received.push(url)
    if (url.pathname === "/hop") {
      const onward = new URL(url)
      onward.hostname = "localhost"
      onward.pathname = "/landed"
      return response.writeHead(302, { location: onward.href }).end()
    }
    response.writeHead(200, { "content-type": "text/html" }).end("<title>Client</title><p>Back at the client")
  })
  const origin = () => {
    const address = server.address()
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  }
  beforeAll(async () => {
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin, received }
}

/** Registers a client dynamically and gives its id. */
export const register = async (berth: Berth, name: string, ...redirectUris: ReadonlyArray<string>) => {
  const answer = await berth.request<{ client_id: string }>("POST", "/api/v1/oauth/register", {
    body: { client_name: name, redirect_uris: redirectUris }
  })
  if (answer.status !== 201) throw new Error(`expected a client, got ${answer.status}: ${answer.text}`)
  return answer.body.client_id
}

export interface Asked {
  readonly clientId: string
  readonly redirectUri: string
  readonly resource: string
  readonly scope?: string
  readonly state?: string
}

/** Path and query of an authorization request. */
export const authorizePath = ({ clientId, redirectUri, resource, scope = "mcp:read mcp:execute", state }: Asked) => {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    resource,
    scope,
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...(state === undefined ? {} : { state })
  })
  return `/api/v1/oauth/authorize?${query}`
}
