import { BodyTooSlow } from "#http/answers/body-errors.ts"
import { withBody } from "#http/connection/with-body.ts"
import { FileTooLarge, limits, type Upload } from "#src/imports/Import.ts"
import { BadRequest, Invalid } from "#src/shared/Failure.ts"
import { type HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Context, Effect } from "effect"
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
/** Bytes that the parts' headers may add to a file. */
const overhead = 64 * 1024

const malformed = () => new BadRequest({ reason: "The body is not valid multipart/form-data (RFC 7578)" })
const rejection = (error: MultipartError): Failed => error._tag === "ReachedLimit" ? new FileTooLarge() : malformed()

/** Why a part is not acceptable, or undefined. */
const problemOf = ({ filename, name }: PartInfo, isSecond: boolean) => {
  if (name !== "file") return Invalid.field(name.slice(0, 100), "is not a known field")
  if (filename === undefined) return Invalid.field("file", "must be a file with a name that ends in .json or .csv")
  return isSecond ? Invalid.field("file", "must be one file") : undefined
}

type Settle = (result: Effect.Effect<Upload, Failed>) => void

/** Collects the file from the chunks of a body. */
const collector = (contentType: string, settle: Settle) => {
  const chunks: Array<Uint8Array> = []
  let filename: string | undefined
  let size = 0
  return make({
    headers: { "content-type": contentType },
    maxTotalSize: limits.fileBytes + overhead,
    isFile: () => true,
    onField: () => undefined,
    onFile: (info) => {
      const problem = problemOf(info, filename !== undefined)
      if (problem !== undefined) settle(problem)
      else filename = info.filename
      return (chunk) => {
        if (chunk === null || problem !== undefined) return
        size += chunk.length
        if (size > limits.fileBytes) settle(new FileTooLarge())
        else chunks.push(chunk)
      }
    },
    onError: (error) => settle(rejection(error)),
    onDone: () =>
      settle(
        filename === undefined
          ? Invalid.field("file", "is required")
          : Effect.succeed({ filename, bytes: Buffer.concat(chunks) })
      )
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
const fingerprint = ({ bytes, filename }: Upload) =>
  `${filename}\n${createHash("sha256").update(bytes).digest("base64url")}`

/** The lazy upload of a request, and the request with the fingerprint as its text. */
export const withUpload = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
  const upload = yield* Effect.cached(receive(request))
  return { request: withBody(request, { text: Effect.map(upload, fingerprint) }), upload }
})
