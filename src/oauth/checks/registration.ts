import { issuesOf } from "#src/format/issues.ts"
import { sentence } from "#src/shared/Failure.ts"
import { Data, Either, Schema } from "effect"
import { ClientName, commonFields, tidyScope } from "./client-document-fields.ts"

/** RFC 7591 §3.2.2: answered with 400 and `{error, error_description}`. */
export class RegistrationError extends Data.TaggedError("RegistrationError")<{
  readonly error: "invalid_redirect_uri" | "invalid_client_metadata"
  readonly description: string
}> {}

/**
 * Clients have no secret here. `client_secret_basic` is the default of the method (§2), so a client may name it without
 * needing it: it gets `none` instead, as §2 allows. Methods with a client's own keys are not supported.
 */
const AuthMethod = Schema.Literal("none", "client_secret_basic", "client_secret_post").annotations({
  message: () => "only none is supported"
})

/** A server must ignore metadata that it does not understand (§2), a `software_statement` included (§3.1.1). */
const Registration = Schema.Struct({
  client_name: Schema.optionalWith(ClientName, { nullable: true }),
  ...commonFields,
  token_endpoint_auth_method: Schema.optionalWith(AuthMethod, { nullable: true }),
  jwks: Schema.optionalWith(Schema.Unknown, { nullable: true }),
  jwks_uri: Schema.optionalWith(Schema.Unknown, { nullable: true })
}).pipe(
  Schema.filter(({ jwks, jwks_uri }) => jwks === undefined || jwks_uri === undefined || "jwks and jwks_uri: not both")
)

/** The parts of the request that are stored. */
export interface RegistrationRequest {
  readonly clientName: string
  readonly redirectUris: ReadonlyArray<string>
  readonly scope: string | null
  readonly grantTypes: ReadonlyArray<string>
}

const grantTypes = ["authorization_code", "refresh_token"]
const decode = Schema.decodeUnknownEither(Registration)

/** RFC 6749 §5.2: printable ASCII without quotes and backslashes. The sentence may quote the request. */
const plain = (text: string) => text.replaceAll("\"", "'").replace(/[^\x20-\x5b\x5d-\x7e]/gu, "?")

const registrationError = (issues: ReturnType<typeof issuesOf>) =>
  new RegistrationError({
    error: issues[0]?.path.startsWith("redirect_uris") === true ? "invalid_redirect_uri" : "invalid_client_metadata",
    description: plain(sentence(issues))
  })

/** A registration request (RFC 7591 §2) with defaults filled in. */
export const checkRegistration = (input: unknown): Either.Either<RegistrationRequest, RegistrationError> =>
  Either.mapBoth(decode(input), {
    onLeft: (error) => registrationError(issuesOf(error)),
    onRight: (metadata) => ({
      clientName: metadata.client_name ?? "Unnamed client",
      redirectUris: [...new Set(metadata.redirect_uris)],
      scope: tidyScope(metadata.scope),
      grantTypes: grantTypes.filter((name) => metadata.grant_types.includes(name))
    })
  })
