import { expect } from "vitest"
import { type Account, type Listed } from "../../support/account.ts"
import { type Berth } from "../../support/Berth.ts"
import { type OAuthErrorBody, postForm, type TokenBody } from "../../support/oauth.ts"

export const tokenType = "urn:ietf:params:oauth:token-type:access_token"
export const fieldsOf = (subject: string, resource: string) => ({
  grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
  subject_token: subject,
  subject_token_type: tokenType,
  resource
})
type Exchanged = TokenBody & { readonly issued_token_type: string } & OAuthErrorBody

interface GrantOf {
  readonly id: string
  readonly clientName: string
  readonly resource: string
  readonly serverId: string | null
  readonly scopes: ReadonlyArray<string>
}

/** Token exchanges at a platform, and the grants that an account sees. */
export const exchanging = (berth: Berth) => {
  const exchange = (fields: Readonly<Record<string, string>> | URLSearchParams) =>
    postForm<Exchanged>(berth, "/api/v1/oauth/token", fields)
  const tokenFor = async (subject: string, resource: string, scope?: string) => {
    const { body, status } = await exchange({
      ...fieldsOf(subject, resource),
      ...(scope === undefined ? {} : { scope })
    })
    expect(status).toBe(200)
    return body.access_token
  }
  const grantsOf = async (account: Account) => (await account.get<Listed<GrantOf>>("/v1/auth/grants")).body.data
  return { exchange, tokenFor, grantsOf } as const
}
