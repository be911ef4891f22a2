import { type Berth } from "./Berth.ts"
import { type Answer, freshAddress } from "./http.ts"

const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

/** Registers a client dynamically and gives its id. */
export const registerClient = async (berth: Berth, name: string, ...redirectUris: ReadonlyArray<string>) => {
  const answer = await berth.request<{ client_id: string }>("POST", "/api/v1/oauth/register", {
    body: { client_name: name, redirect_uris: redirectUris }
  })
  if (answer.status !== 201) throw new Error(`expected a client, got ${answer.status}: ${answer.text}`)
  return answer.body.client_id
}

/** Path and query of an authorization request; the fields given stand instead of the usual ones. */
export const authorizePath = (
  fields:
    & { readonly client_id: string; readonly redirect_uri: string; readonly resource: string }
    & Readonly<
      Record<string, string>
    >
) =>
  `/api/v1/oauth/authorize?${new URLSearchParams({
    response_type: "code",
    scope: "mcp:read mcp:execute",
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...fields
  })}`

/** Where the link back to the client leads, on a page that tells of an error. */
export const returnLink = (text: string) => {
  const [, href] = /<a href="([^"]*)">Return to /.exec(text) ?? []
  return href === undefined ? undefined : new URL(href.replaceAll("&amp;", "&"))
}

/** A browser without a screen: keeps cookies, tells where forms come from, reads the forms of a page. */
export class PlainBrowser {
  readonly berth: Pick<Berth, "request" | "url">
  readonly cookies = new Map<string, string>()
  readonly address = freshAddress()
  /** The page it is on. */
  url = ""
  text = ""

  constructor(berth: Pick<Berth, "request" | "url">) {
    this.berth = berth
  }

  request = async (method: string, path: string, sent: { body?: string; headers?: Record<string, string> } = {}) => {
    const answer: Answer = await this.berth.request(method, path, {
      ...sent,
      headers: {
        accept: "text/html,*/*;q=0.8",
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        "x-forwarded-for": this.address,
        ...sent.headers
      }
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === "") this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    this.url = path
    this.text = answer.text
    return answer
  }

  /** Goes to a path of the platform and on where it is led, as long as that is the platform. */
  go = async (path: string): Promise<Answer> => this.#follow(await this.request("GET", path))

  async #follow(answer: Answer): Promise<Answer> {
    const location = answer.headers.get("location")
    return answer.status === 303 && location?.startsWith("/") === true ? this.go(location) : answer
  }

  /** The fields and the target of the page's form. */
  form = (text = this.text) => {
    const [, action = ""] = /<form[^>]* action="([^"]*)"/.exec(text) ?? []
    const hidden = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)]
    return {
      action: action.replaceAll("&amp;", "&"),
      fields: Object.fromEntries(hidden.map(([, name = "", value = ""]) => [name, value]))
    }
  }

  post = (path: string, fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}) =>
    this.request("POST", path, {
      body: String(new URLSearchParams(fields)),
      headers: { "content-type": "application/x-www-form-urlencoded", origin: this.berth.url, ...headers }
    })

  /** Fills in the page's form, sends it, and does not follow. */
  submit = (fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}) => {
    const form = this.form()
    return this.post(form.action, { ...form.fields, ...fields }, headers)
  }

  /** Signs in by the page. */
  signIn = async (user: { readonly email: string; readonly password: string }, query = "") => {
    await this.go(`/oauth/sign-in${query}`)
    return this.submit({ email: user.email, password: user.password })
  }
}
