import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type VersionNegotiationMode
} from "@modelcontextprotocol/client"

/** As the second version of the SDK says which revisions it speaks. */
export type Era = VersionNegotiationMode

export interface SecondSdkOptions {
  readonly era: Era
  readonly token?: string | undefined
  readonly authProvider?: OAuthClientProvider
}

const transportTo = (url: string, { authProvider, token }: SecondSdkOptions) => {
  const options = {
    requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
    ...(authProvider === undefined ? {} : { authProvider })
  }
  return url.endsWith("/sse")
    ? new SSEClientTransport(new URL(url), options)
    : new StreamableHTTPClientTransport(new URL(url), options)
}

const clientOf = (mode: Era) => new Client({ name: "second", version: "2" }, { versionNegotiation: { mode } })

/** The client of the SDK's second version, over what the URL ends in. */
export const connectSecondSdk = async (url: string, options: SecondSdkOptions) => {
  const client = clientOf(options.era)
  await client.connect(transportTo(url, options))
  return client
}

/** What the tool gives; a failure throws its text. */
export const callSecondSdk = async <A>(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>> = {}
): Promise<A> => {
  const { content, isError, structuredContent } = await client.callTool({ name, arguments: { ...args } })
  if (isError === true) throw new Error(`${name}: ${JSON.stringify(content)}`)
  return structuredContent as A
}

const redirectUrl = "http://127.0.0.1:33419/callback"

/** A program that registers, as the SDK has it. */
class Provider implements OAuthClientProvider {
  readonly redirectUrl = redirectUrl
  readonly clientMetadata = {
    client_name: "Second SDK",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none"
  }
  #information: OAuthClientInformationMixed | undefined
  #tokens: OAuthTokens | undefined
  #verifier = ""
  sentTo = ""
  clientInformation = () => this.#information
  saveClientInformation = (information: OAuthClientInformationMixed) => void (this.#information = information)
  tokens = () => this.#tokens
  saveTokens = (tokens: OAuthTokens) => void (this.#tokens = tokens)
  redirectToAuthorization = (url: URL) => void (this.sentTo = url.href)
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier)
  codeVerifier = () => this.#verifier
}

/** From nothing but the URL: `browse` goes where the client sends its user, and gives the URL that leads back. */
export const signInSecondSdk = async (url: string, era: Era, browse: (url: string) => Promise<string>) => {
  const authProvider = new Provider()
  const first = transportTo(url, { era, authProvider })
  try {
    await clientOf(era).connect(first)
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
  }
  await first.finishAuth(new URL(await browse(authProvider.sentTo)).searchParams)
  return connectSecondSdk(url, { era, authProvider })
}
