import { type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"

/** A user's place at a web application that is described by a document, as the SDK has it. */
class Provider implements OAuthClientProvider {
  readonly clientMetadataUrl: string
  readonly redirectUrl: string
  readonly clientMetadata
  #information: OAuthClientInformationMixed | undefined
  #tokens: OAuthTokens | undefined
  #verifier = ""
  sentTo = ""

  constructor(clientId: string, redirectUri: string) {
    this.clientMetadataUrl = clientId
    this.redirectUrl = redirectUri
    this.clientMetadata = {
      client_name: "never sent",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none"
    }
  }
  state = () => "of-the-session"
  clientInformation = () => this.#information
  saveClientInformation = (information: OAuthClientInformationMixed) => void (this.#information = information)
  tokens = () => this.#tokens
  saveTokens = (tokens: OAuthTokens) => void (this.#tokens = tokens)
  redirectToAuthorization = (url: URL) => void (this.sentTo = url.href)
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier)
  codeVerifier = () => this.#verifier
}

/**
 * Connects the SDK's client to an MCP server for one user: `browse` goes where it is sent and gives the URL that the
 * user came back to the application with.
 */
export const connectWebClient = async (
  { clientId, redirectUri, url }: { readonly clientId: string; readonly redirectUri: string; readonly url: string },
  browse: (url: string) => Promise<string>
) => {
  const authProvider = new Provider(clientId, redirectUri)
  const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider })
  const first = transport()
  const client = new Client({ name: "web", version: "1" })
  try {
    await client.connect(first as Transport)
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
  }
  const back = new URL(await browse(authProvider.sentTo)).searchParams
  if (back.get("state") !== "of-the-session") throw new Error(`not this session's: ${back.toString()}`)
  await first.finishAuth(back.get("code") ?? "")
  await client.connect(transport() as Transport)
  return { client, sentTo: new URL(authProvider.sentTo).searchParams }
}
