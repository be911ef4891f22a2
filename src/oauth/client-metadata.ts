import { checkDocument, type ClientDocument } from "#src/oauth/checks/client-document.ts"
import { type GuardedHttp, type GuardedResponse } from "#src/shared/GuardedHttp.ts"
import { Clock, Effect, Either } from "effect"
import { freshnessOf } from "./client-metadata-lifetime.ts"
import { ClientMetadataError } from "./Client.ts"

/** CIMD §6.6: documents are small, and an authorization waits only a short time for one. */
const maxBytes = 5 * 1024
const totalMs = 5000

/** The result of a fetch. Times in milliseconds; `lifetime` is undefined when the response does not give one. */
export type Fetched =
  | {
    readonly _tag: "Document"
    readonly document: ClientDocument
    readonly etag: string | null
    readonly lifetime: number | undefined
    readonly at: number
  }
  | { readonly _tag: "NotModified"; readonly lifetime: number | undefined; readonly at: number }

const isJson = (contentType: string | undefined) =>
  /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType ?? "")

/** RFC 9110 §8.8.3; a malformed one is ignored. */
const etagOf = (text: string | undefined) =>
  text !== undefined && text.length <= 512 && /^(W\/)?"[\x21\x23-\x7e]*"$/.test(text) ? text : null

const utf8 = (bytes: Buffer) => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const read = (clientId: string, { body, headers }: GuardedResponse<Buffer>): Either.Either<ClientDocument, string> => {
  // We asked for no compression. Rejecting it makes the size limit apply to the decompressed size, too.
  if ((headers["content-encoding"] ?? "identity") !== "identity") return Either.left("it is compressed")
  if (!isJson(headers["content-type"])) return Either.left("its Content-Type is not JSON")
  const text = utf8(body)
  return text === undefined ? Either.left("it is not UTF-8") : checkDocument(clientId, text)
}

/**
 * Fetches the document at a client id, once and without following redirects, and checks it. `etag` is that of the
 * stored document: only with it may the response be 304.
 */
export const fetchMetadata = Effect.fn("oauth.fetchMetadata")(
  function*(http: GuardedHttp, clientId: string, etag: string | null) {
    const failed = (reason: string) => new ClientMetadataError({ clientId, reason })
    const headers = { accept: "application/json", ...(etag === null ? {} : { "if-none-match": etag }) }
    const response = yield* Effect.mapError(
      http.send({ url: clientId, headers, maxBytes, totalMs, idleMs: totalMs }),
      (error) => failed(error.message)
    )
    const at = yield* Clock.currentTimeMillis
    const { lifetime, stored } = freshnessOf(response.headers, at)
    if (response.status === 304 && etag !== null) return { _tag: "NotModified", lifetime, at } satisfies Fetched
    if (response.status !== 200) return yield* failed(`its host answers ${response.status} instead of 200`)
    const document = yield* Effect.mapError(read(clientId, response), failed)
    const validator = stored ? etagOf(response.headers.etag) : null
    return { _tag: "Document", document, etag: validator, lifetime, at } satisfies Fetched
  }
)
