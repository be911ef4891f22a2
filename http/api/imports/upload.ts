import { BodyTooSlow } from "#http/answers/body-errors.ts"
import { withBody } from "#http/connection/with-body.ts"
import { FileTooLarge, limits, type Upload } from "#src/imports/Import.ts"
import { Mappings } from "#src/imports/Mappings.ts"
import { canonicalJson } from "#src/shared/canonical-json.ts"
import { BadRequest, decodeInput, Invalid } from "#src/shared/Failure.ts"
import { Input } from "#src/shared/text.ts"
import { type HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Context, Effect, Schema } from "effect"
import { make, type MultipartError, type PartInfo } from "multipasta"
import { createHash } from "node:crypto"

type Failed = BadRequest | BodyTooSlow | FileTooLarge | Invalid

/** The file of the current request, read once, on first use. */
export class CurrentUpload extends Context.Reference<CurrentUpload>()("http/CurrentUpload", {
  defaultValue: (): Effect.Effect<Upload, Failed> =>
    Effect.suspend(() => Invalid.field("file", "is required: send it as multipart/form-data"))
}) {}

export const isMultipart = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  /^\s*multipart\/form-data\s*(;|$)/i.test(headers["content-type"] ?? "")

/** 10 MB in this time are 85 KiB per second. */
const maxTime = "2 minutes"
const mostMappingBytes = 64 * 1024
/** Bytes that the mappings and the parts' headers may add to a file. */
const overhead = 2 * mostMappingBytes

const malformed = () => new BadRequest({ reason: "The body is not valid multipart/form-data (RFC 7578)" })
const rejection = (error: MultipartError): Failed => error._tag === "ReachedLimit" ? new FileTooLarge() : malformed()

/** The field `mappings`: a JSON object. */
const mappingsOf = (text: string) =>
  Schema.decodeUnknown(Schema.parseJson())(text).pipe(
    Effect.mapError(() => new Invalid({ issues: [{ path: "mappings", message: "must be a JSON object" }] })),
    Effect.flatMap((mappings) => decodeInput(Input({ mappings: Mappings }))({ mappings }))
  )

/** Why a part is not acceptable, or undefined. */
const problemOf = ({ filename, name }: PartInfo, isSecond: boolean) => {
  if (name === "mappings") return isSecond ? Invalid.field(name, "must be there once") : undefined
  if (name !== "file") return Invalid.field(name.slice(0, 100), "is not a known field")
  if (filename === undefined) return Invalid.field("file", "must be a file with a name that ends in .json or .csv")
  return isSecond ? Invalid.field("file", "must be one file") : undefined
}

type Settle = (result: Effect.Effect<Upload, Failed>) => void

/** A part's bytes as they arrive. */
class Collected {
  readonly #chunks: Array<Uint8Array> = []
  #size = 0
  readonly filename: string | undefined
  readonly most: number

  constructor(filename: string | undefined, most: number) {
    this.filename = filename
    this.most = most
  }

  /** Whether the part is still within its limit. */
  add(chunk: Uint8Array) {
    this.#size += chunk.length
    if (this.#size <= this.most) this.#chunks.push(chunk)
    return this.#size <= this.most
  }

  get bytes() {
    return Buffer.concat(this.#chunks)
  }
}

const uploadOf = (parts: ReadonlyMap<string, Collected>): Effect.Effect<Upload, Invalid> => {
  const [file, mappings] = [parts.get("file"), parts.get("mappings")]
  if (file?.filename === undefined) return Invalid.field("file", "is required")
  const { bytes, filename } = file
  return mappings === undefined
    ? Effect.succeed({ filename, bytes })
    : Effect.map(mappingsOf(mappings.bytes.toString()), (decoded) => ({ filename, bytes, ...decoded }))
}

/** Collects the file, and its mappings, from the chunks of a body. */
const collector = (contentType: string, settle: Settle) => {
  const parts = new Map<string, Collected>()
  return make({
    headers: { "content-type": contentType },
    maxTotalSize: limits.fileBytes + overhead,
    isFile: () => true,
    onField: () => undefined,
    onFile: (info) => {
      const problem = problemOf(info, parts.has(info.name))
      const isFile = info.name === "file"
      const part = new Collected(info.filename, isFile ? limits.fileBytes : mostMappingBytes)
      if (problem === undefined) parts.set(info.name, part)
      else settle(problem)
      return (chunk) => {
        if (chunk === null || problem !== undefined || part.add(chunk)) return
        settle(isFile ? new FileTooLarge() : Invalid.field("mappings", "must be at most 64 KiB"))
      }
    },
    onError: (error) => settle(rejection(error)),
    onDone: () => settle(uploadOf(parts))
  })
}

/**
 * Reads the file as it arrives. An error ends this at once; the rest of the body is discarded as it comes, so that a
 * client that reads only after sending everything gets the response.
 */
const receive = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.async<Upload, Failed>((resume) => {
    const source = NodeHttpServerRequest.toIncomingMessage(request)
    if (Number(request.headers["content-length"] ?? 0) > limits.fileBytes + overhead) {
      return resume(new FileTooLarge())
    }
    const settle: Settle = (result) => {
      source.off("data", onData).off("end", onEnd).off("error", onCut).off("close", onCut)
      source.resume()
      resume(result)
    }
    /** The parser throws on some invalid headers, such as a name with broken percent-encoding. */
    const guarded = (work: () => void) => {
      try {
        work()
      } catch {
        settle(malformed())
      }
    }
    const onData = (chunk: Buffer) => guarded(() => parser.write(chunk))
    const onEnd = () => {
      guarded(() => parser.end())
      settle(malformed())
    }
    const onCut = () => settle(new BadRequest({ reason: "The body was cut off" }))
    const parser = collector(request.headers["content-type"] ?? "", settle)
    source.on("data", onData).on("end", onEnd).on("error", onCut).on("close", onCut)
    return Effect.sync(() => settle(Effect.interrupt))
  }).pipe(
    // A request's middleware is uninterruptible; this must not be.
    Effect.interruptible,
    Effect.timeoutFail({ duration: maxTime, onTimeout: () => new BodyTooSlow() })
  )

/** For `Idempotency-Key`: identifies the content, since the multipart boundary differs each time. */
const fingerprint = ({ bytes, filename, mappings }: Upload) =>
  `${filename}\n${createHash("sha256").update(bytes).digest("base64url")}` +
  (mappings === undefined ? "" : `\n${canonicalJson(JSON.stringify(mappings))}`)

/** The lazy upload of a request, and the request with the fingerprint as its text. */
export const withUpload = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
  const upload = yield* Effect.cached(receive(request))
  return { request: withBody(request, { text: Effect.map(upload, fingerprint) }), upload }
})
