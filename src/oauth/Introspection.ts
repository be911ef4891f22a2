import { CurrentSettings } from "#src/config/Settings.ts"
import { duplicated, parameter } from "#src/oauth/checks/duplicates.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { digestOf } from "#src/shared/tokens.ts"
import { Effect, Option } from "effect"
import { AccessTokens, type ActingParty } from "./AccessTokens.ts"
import { IntrospectionRepo, type Machine } from "./IntrospectionRepo.ts"
import { oauthError } from "./OAuthError.ts"

export type { Machine } from "./IntrospectionRepo.ts"

/** RFC 7662 §2.2. Nothing more is disclosed of an inactive token. */
export type IntrospectionResponse = { readonly active: false } | {
  readonly active: true
  readonly token_type: "Bearer"
  readonly iss: string
  readonly sub: string
  readonly aud: string
  readonly client_id: string
  readonly scope: string
  readonly iat: number
  readonly exp: number
  readonly jti: string
  /** RFC 8693 §4.1. */
  readonly act?: ActingParty
}

const inactive: IntrospectionResponse = { active: false }

/** Token introspection for hosted servers (RFC 7662): access tokens only, no refresh tokens. */
export class Introspection extends Effect.Service<Introspection>()("oauth/Introspection", {
  effect: Effect.gen(function*() {
    const repo = yield* IntrospectionRepo
    const accessTokens = yield* AccessTokens
    const settings = yield* CurrentSettings

    /** The server that a `PLATFORM_MCP_REPLAY_TOKEN` belongs to. */
    const authenticate = Effect.fn("Introspection.authenticate")((replayToken: string) =>
      repo.machine(digestOf(replayToken))
    )

    /** Active: an access token for the asking server, whose user exists and whose families are not revoked. */
    const introspect = Effect.fn("Introspection.introspect")(function*(machine: Machine, form: URLSearchParams) {
      if (duplicated(form) !== undefined) {
        return yield* oauthError("invalid_request", "a parameter is there more than once")
      }
      const token = parameter(form, "token")
      if (token === undefined) return yield* oauthError("invalid_request", "token is required")
      if (machine.authMode === "byoa") return inactive
      const audiences = [publicUrl(settings, machine.slug)]
      const all = Option.getOrUndefined(yield* Effect.option(accessTokens.verify(token, audiences, machine.serverId)))
      if (all === undefined || !(yield* repo.isActive(all.sub, [all.fam, all.par]))) return inactive
      const { fam: _fam, par: _par, pub: _pub, srv: _srv, ...claims } = all
      return { active: true, token_type: "Bearer", ...claims } satisfies IntrospectionResponse
    })

    return { authenticate, introspect } as const
  })
}) {}
