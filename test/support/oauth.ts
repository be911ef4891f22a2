import { createHash, randomBytes } from "node:crypto"
import { type Account, type Project, type Server } from "./account.ts"
import { type Berth } from "./Berth.ts"
import { freshAddress, type Sent } from "./http.ts"
import { authorizePath, PlainBrowser, registerClient, returnLink } from "./pages.ts"
import { runSql } from "./sql.ts"

export const redirectUri = "https://client.example/callback"

export interface TokenBody {
  readonly access_token: string
  readonly token_type: string
  readonly expires_in: number
  readonly refresh_token?: string
  readonly scope: string
}

export interface OAuthErrorBody {
  readonly error: string
  readonly error_description: string
}

type Fields = Readonly<Record<string, string>>

/** A form from an address of its own, as a client sends it. */
export const postForm = <Body>(berth: Berth, path: string, fields: Fields | URLSearchParams, sent: Sent = {}) =>
  berth.request<Body>("POST", path, {
    ...sent,
    body: String(new URLSearchParams(fields)),
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "x-forwarded-for": freshAddress(),
      ...sent.headers
    }
  })

/** One client and one user before one server, over HTTP alone. */
export class Flow {
  readonly berth: Berth
  readonly user: Account
  readonly owner: Account
  readonly server: Server
  readonly project: Project
  readonly clientId: string
  readonly verifier = randomBytes(32).toString("base64url")

  constructor(made: Pick<Flow, "berth" | "user" | "owner" | "server" | "project" | "clientId">) {
    this.berth = made.berth
    this.user = made.user
    this.owner = made.owner
    this.server = made.server
    this.project = made.project
    this.clientId = made.clientId
  }

  get challenge() {
    return createHash("sha256").update(this.verifier).digest("base64url")
  }

  /** Goes through the pages, allows, or follows the link of an error; where the browser was sent then. */
  authorize = async (fields: Fields = {}) => {
    const browser = new PlainBrowser(this.berth)
    browser.cookies.set("svc_session", this.user.token)
    const page = await browser.go(authorizePath({
      client_id: this.clientId,
      redirect_uri: redirectUri,
      resource: this.server.publicUrl,
      scope: "mcp:read mcp:write mcp:execute offline_access",
      state: "s",
      code_challenge: this.challenge,
      ...fields
    }))
    const back = returnLink(page.text)
    if (back !== undefined) return back
    const answer = page.status === 200 ? await browser.submit({ decision: "allow" }) : page
    if (answer.status !== 303) throw new Error(`expected a redirect, got ${answer.status}: ${answer.text}`)
    return new URL(answer.headers.get("location")!)
  }

  /** The token request for a fresh code. */
  codeRequest = async (fields: Fields = {}): Promise<Fields> => ({
    grant_type: "authorization_code",
    client_id: this.clientId,
    redirect_uri: redirectUri,
    resource: fields["resource"] ?? this.server.publicUrl,
    code_verifier: this.verifier,
    code: (await this.authorize(fields)).searchParams.get("code")!
  })

  token = <Body = TokenBody>(fields: Fields | URLSearchParams, sent: Sent = {}) =>
    postForm<Body>(this.berth, "/api/v1/oauth/token", fields, sent)

  tokens = async (fields: Fields = {}): Promise<TokenBody> => {
    const answer = await this.token(await this.codeRequest(fields))
    if (answer.status !== 200) throw new Error(`expected tokens, got ${answer.status}: ${answer.text}`)
    return answer.body
  }

  refresh = <Body = TokenBody>(refreshToken: string | undefined, fields: Fields = {}) =>
    this.token<Body>({
      grant_type: "refresh_token",
      client_id: this.clientId,
      refresh_token: refreshToken ?? "",
      ...fields
    })

  /** As the server's machine asks. */
  introspect = async <Body = { readonly active: boolean }>(token: string, server = this.server) =>
    postForm<Body>(this.berth, "/api/v1/oauth/introspect", { token }, {
      token: await replayToken(this.berth, server.id)
    })
}

export const replayToken = async (berth: Berth, serverId: string) => {
  const [row] = await runSql(berth.databaseUrl, "SELECT replay_token FROM servers WHERE id = $1", [serverId])
  return String(row?.["replay_token"])
}

export const newFlow = async (berth: Berth, ...redirectUris: ReadonlyArray<string>) => {
  const owner = await berth.signUp("enterprise")
  const project = await owner.project()
  const clientId = await registerClient(berth, "Menu Reader", redirectUri, ...redirectUris)
  return new Flow({
    berth,
    owner,
    user: await berth.signUp("enterprise"),
    project,
    server: await owner.server(project.id),
    clientId
  })
}
