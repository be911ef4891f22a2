import { type BodyTooSlow } from "#http/answers/body-errors.ts"
import { excessIn } from "#http/answers/bounded-json.ts"
import { type Parts, receiveParts, type UploadRule } from "#http/api/uploads/receive.ts"
import { withBody } from "#http/connection/with-body.ts"
import { unknownField } from "#src/format/issues.ts"
import { FileTooLarge, limits, type Upload } from "#src/imports/Import.ts"
import { Mappings } from "#src/imports/Mappings.ts"
import { canonicalJson } from "#src/shared/canonical-json.ts"
import { BadRequest, decodeInput, Invalid } from "#src/shared/Failure.ts"
import { Input } from "#src/shared/text.ts"
import { type HttpServerRequest } from "@effect/platform"
import { Context, Effect, Schema } from "effect"
import { createHash } from "node:crypto"

type Failed = BadRequest | BodyTooSlow | FileTooLarge | Invalid

/** The file of the current request, read once, on first use. */
export class CurrentUpload extends Context.Reference<CurrentUpload>()("http/CurrentUpload", {
  defaultValue: (): Effect.Effect<Upload, Failed> =>
    Effect.suspend(() => Invalid.field("file", "is required: send it as multipart/form-data"))
}) {}

const rule: UploadRule<BadRequest | FileTooLarge | Invalid> = {
  most: { file: limits.fileBytes, mappings: 64 * 1024 },
  unknown: (name) => Invalid.field(name, unknownField(name, ["file", "mappings"])),
  repeated: (name) => Invalid.field(name, name === "file" ? "must be one file" : "must be there once"),
  tooLarge: (name) => name === "file" ? new FileTooLarge() : Invalid.field(name, "must be at most 64 KiB"),
  malformed: (reason) => new BadRequest({ reason }),
  bodyTooLarge: () => new FileTooLarge()
}

/** The field `mappings`: a JSON object. */
const mappingsOf = (bytes: Buffer) => {
  const excess = excessIn(bytes)
  return excess === undefined
    ? Schema.decodeUnknown(Schema.parseJson())(bytes.toString()).pipe(
      Effect.mapError(() => new Invalid({ issues: [{ path: "mappings", message: "must be a JSON object" }] })),
      Effect.flatMap((mappings) => decodeInput(Input({ mappings: Mappings }))({ mappings }))
    )
    : Invalid.field("mappings", excess)
}

const uploadOf = (parts: Parts): Effect.Effect<Upload, Invalid> => {
  const [file, mappings] = [parts.get("file"), parts.get("mappings")]
  if (file === undefined) return Invalid.field("file", "is required")
  const { bytes, filename } = file
  if (filename === undefined) return Invalid.field("file", "must be a file with a name that ends in .json or .csv")
  return mappings === undefined
    ? Effect.succeed({ filename, bytes })
    : Effect.map(mappingsOf(mappings.bytes), (decoded) => ({ filename, bytes, ...decoded }))
}

/** For `Idempotency-Key`: identifies the content, since the multipart boundary differs each time. */
const fingerprint = ({ bytes, filename, mappings }: Upload) =>
  `${filename}\n${createHash("sha256").update(bytes).digest("base64url")}` +
  (mappings === undefined ? "" : `\n${canonicalJson(JSON.stringify(mappings))}`)

/** The lazy upload of a request, and the request with the fingerprint as its text. */
export const withUpload = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
  const upload = yield* Effect.cached(Effect.flatMap(receiveParts(request, rule), uploadOf))
  return { request: withBody(request, { text: Effect.map(upload, fingerprint) }), upload }
})
