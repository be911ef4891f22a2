import { issuesOf } from "#src/format/issues.ts"
import { sentence } from "#src/shared/Failure.ts"
import { Either, Predicate, Schema } from "effect"
import { ClientName, commonFields } from "./client-document-fields.ts"

/**
 * The fields that we read of a client's metadata document. A document is made for many authorization servers: unknown
 * fields are ignored, `logo_uri` and the like are never used.
 */
const Document = Schema.Struct({
  client_id: Schema.String,
  client_name: ClientName,
  ...commonFields,
  token_endpoint_auth_method: Schema.optionalWith(
    Schema.Literal("none").annotations({ message: () => "must be none" }),
    { nullable: true, default: () => "none" as const }
  )
})
export type ClientDocument = typeof Document.Type

const decode = Schema.decodeUnknownEither(Document)

/** Not allowed: the document is public, so it can't hold a secret (CIMD §4.1). */
const secrets = ["client_secret", "client_secret_expires_at"]

/** The document if it is valid for the URL it was fetched from; else a sentence that says why not. */
export const checkDocument = (clientId: string, text: string): Either.Either<ClientDocument, string> => {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return Either.left("it is not JSON")
  }
  if (!Predicate.isRecord(json)) return Either.left("it is not a JSON object")
  const secret = secrets.find((name) => Predicate.hasProperty(json, name))
  if (secret !== undefined) return Either.left(`${secret}: a public document has no secret`)
  return Either.flatMap(
    Either.mapLeft(decode(json), (error) => sentence(issuesOf(error))),
    // Simple string comparison (RFC 3986 §6.2.1), so that no document is valid for another URL.
    (document) =>
      document.client_id === clientId
        ? Either.right(document)
        : Either.left("client_id: is not the URL that the document was fetched from")
  )
}
