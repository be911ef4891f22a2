import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import Negotiator from "negotiator"
import { gzipSync } from "node:zlib"
import { etagOf, isKnown } from "./conditional.ts"

/**
 * A long text that is the same for everybody, compressed once: gzip for whom it suits, with an ETag for each form
 * (RFC 9110 §8.8.3.3). 304 when the caller has either already.
 */
export const compressed = (text: string, contentType: string, more: Readonly<Record<string, string>>) => {
  const plain = new TextEncoder().encode(text)
  const gzip = gzipSync(plain, { level: 9 })
  const etag = etagOf(text)
  const gzipEtag = `${etag.slice(0, -1)}-gzip"`
  const kept = { ...more, "cache-control": "public, max-age=60, stale-while-revalidate=300", vary: "Accept-Encoding" }
  return ({ headers: sent }: HttpServerRequest.HttpServerRequest) => {
    const zipped = new Negotiator({ headers: sent }).encodings(["gzip", "identity"])[0] === "gzip"
    const headers = { ...kept, etag: zipped ? gzipEtag : etag }
    const known = sent["if-none-match"]
    if (isKnown(known, etag) || isKnown(known, gzipEtag)) return HttpServerResponse.empty({ status: 304, headers })
    return HttpServerResponse.uint8Array(zipped ? gzip : plain, {
      contentType,
      headers: zipped ? { ...headers, "content-encoding": "gzip" } : headers
    })
  }
}
