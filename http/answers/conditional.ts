import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { createHash } from "node:crypto"

/** Whether `If-None-Match` has the tag, by the weak comparison (RFC 9110 §13.1.2). */
export const isKnown = (header: string | undefined, etag: string) =>
  header !== undefined &&
  (header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag))

/** The entity tag of a text. */
export const etagOf = (text: string) => `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`

/** A text with its ETag: 304 when the caller has it already. */
export const conditional = (
  { headers: sent }: HttpServerRequest.HttpServerRequest,
  text: string,
  contentType: string,
  more: Readonly<Record<string, string>>
) => {
  const etag = etagOf(text)
  const headers = { ...more, etag }
  return isKnown(sent["if-none-match"], etag)
    ? HttpServerResponse.empty({ status: 304, headers })
    : HttpServerResponse.text(text, { headers, contentType })
}
