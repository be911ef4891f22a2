/** What of oidc-provider the differential run uses; the package ships no types. */
declare module "oidc-provider" {
  import type { RequestListener } from "node:http"

  interface Session {
    accountId?: string
    loginTs?: number
  }

  interface Grant {
    addResourceScope: (resource: string, scope: string) => void
    addOIDCScope: (scope: string) => void
    save: () => Promise<string>
  }

  export interface Context {
    readonly oidc: { readonly client: { readonly clientId: string; grantTypeAllowed: (type: string) => boolean } }
  }

  export default class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>)
    callback: () => RequestListener
    readonly Grant: new(fields: { readonly clientId: string; readonly accountId: string }) => Grant
    readonly Session: { get: (context: Context) => Promise<Session> }
  }

  export const errors: { readonly InvalidTarget: new() => Error }
}
