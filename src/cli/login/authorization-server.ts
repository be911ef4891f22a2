import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { isConfidential } from "#src/images/login.ts"
import { Effect } from "effect"
import * as oauth from "oauth4webapi"

const seconds = 15

/** Clients have no secret (docs/decisions/own-authorization-server.md). */
export const noSecret = oauth.None()

/** Plain http is for this machine's own addresses, as in development. */
export const requestTo = (url: string) => ({
  signal: AbortSignal.timeout(seconds * 1000),
  [oauth.allowInsecureRequests]: isConfidential(url, true)
})

export const refusal = (message: string, code: number = exitCodes.failed) => new CliFailure({ message, code })

/** What is told of a request that did not get the answer it should have. */
const failureOf = (server: string) => (error: unknown) => {
  if (error instanceof oauth.ResponseBodyError) {
    return refusal(`${server} refused the login: ${error.error_description ?? error.error}`, exitCodes.notLetIn)
  }
  const isSilence = error instanceof TypeError || error instanceof DOMException
  return isSilence && !("code" in error && typeof error.code === "string")
    ? refusal(`Nothing answers at ${server}; is berth running there?`, exitCodes.noAnswer)
    : refusal(`${server} does not answer as an authorization server does`)
}

/** A request of OAuth, whose failures are told as those of `server`. */
export const talk = <A>(server: string, request: () => Promise<A>) =>
  Effect.tryPromise({ try: request, catch: failureOf(server) })

/** The URL of another installation's API, without its end, where it holds nothing that a shell would read. */
const installationOf = (resource: string) => /^(https?:\/\/[\w.:[\]/%~-]+)\/v1$/.exec(resource)?.[1]

export interface Found {
  readonly server: oauth.AuthorizationServer
  /** The API's resource URL, for which the tokens are. */
  readonly resource: string
  /** Where users log in, and what is opened in their browser. */
  readonly page: string
  readonly scopes: ReadonlyArray<string>
}

/**
 * The authorization server of an installation, by the document of its API (RFC 9728). The resource must be the API that was
 * asked: a token for another would be of use to whoever answers here (§3.3).
 */
export const findServer = Effect.fn("cli.findAuthorizationServer")(function*(root: string) {
  if (!isConfidential(root, true)) {
    return yield* refusal(`${root} is plain http: to log in by the browser it must be https, or be on this machine`)
  }
  const api = new URL(`${root}/v1`)
  const response = yield* talk(root, () => oauth.resourceDiscoveryRequest(api, requestTo(root)))
  if (response.status === 404) return yield* refusal(`${root} has no login by the browser; give --email`)
  const named = yield* talk(root, () => response.clone().json() as Promise<{ readonly resource?: unknown }>)
  if (typeof named.resource === "string" && named.resource !== api.href) {
    const itself = installationOf(named.resource)
    return yield* refusal(
      `The installation at ${root} says that it is ` +
        (itself === undefined ? "another" : `${itself}: berth login --url ${itself}`)
    )
  }
  const { authorization_servers: [issuer] = [], resource, scopes_supported: scopes = [] } = yield* talk(
    root,
    () => oauth.processResourceDiscoveryResponse(api, response)
  )
  if (issuer === undefined) return yield* refusal(`${root} names no authorization server; give --email`)
  const server = yield* talk(issuer, async () =>
    oauth.processDiscoveryResponse(
      new URL(issuer),
      await oauth.discoveryRequest(new URL(issuer), { algorithm: "oauth2", ...requestTo(issuer) })
    ))
  const page = parseUrl(server.authorization_endpoint ?? "")?.href
  // Other schemes start other programs than a browser.
  if (page === undefined || !isConfidential(page, true)) {
    return yield* refusal(`${issuer} names no page to log in at that is https, or on this machine`)
  }
  return { server, resource, page, scopes } satisfies Found
})
