import { type BodyTooSlow } from "#http/answers/body-errors.ts"
import { isMultipart, receiveParts, type UploadRule } from "#http/api/uploads/receive.ts"
import { withBody } from "#http/connection/with-body.ts"
import { unknownField } from "#src/format/issues.ts"
import { documentLimits, DocumentNotValid, type SentDocument, tooLarge } from "#src/hub/CapabilityDoc.ts"
import { type HttpServerRequest } from "@effect/platform"
import { Context, Effect } from "effect"
import { createHash } from "node:crypto"

type Failed = BodyTooSlow | DocumentNotValid

const required = () => DocumentNotValid.of("is required: send it as multipart/form-data")

/** The document of the current request, read once, on first use. */
export class CurrentDocument extends Context.Reference<CurrentDocument>()("http/CurrentDocument", {
  defaultValue: (): Effect.Effect<SentDocument, Failed> => Effect.suspend(required)
}) {}

/** Contract: Hub error codes, upload capability doc: whatever is wrong with the file is 400. */
const rule: UploadRule<DocumentNotValid> = {
  most: { file: documentLimits.bytes },
  unknown: (name) => DocumentNotValid.of(unknownField(name, ["file"]), name),
  repeated: (name) => DocumentNotValid.of("must be one file", name),
  tooLarge,
  malformed: (reason) => DocumentNotValid.of(reason, ""),
  bodyTooLarge: tooLarge
}

const fingerprint = ({ bytes, filename, type }: SentDocument) =>
  `${type}\n${filename}\n${createHash("sha256").update(bytes).digest("base64url")}`

const receive = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<SentDocument, Failed> =>
  Effect.flatMap(receiveParts(request, rule), (parts) => {
    const file = parts.get("file")
    return file === undefined ? required() : Effect.succeed({ ...file, filename: file.filename ?? "" })
  })

/**
 * The lazy document of a request, and the request with its fingerprint as its text. A body of another type is told once
 * the caller is known.
 */
export const withDocument = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
  const document = yield* Effect.cached(isMultipart(request) ? receive(request) : Effect.suspend(required))
  return { request: withBody(request, { text: Effect.map(document, fingerprint) }), document }
})
