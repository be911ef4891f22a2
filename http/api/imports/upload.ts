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

/** The file of the request in hand: read when it is first asked for, and once. */
export class CurrentUpload extends Context.Reference<CurrentUpload>()("http/CurrentUpload", {
  defaultValue: (): Effect.Effect<Upload, Failed> =>
    Effect.suspend(() => Invalid.field("file", "is required: send it as multipart/form-data"))
}) {}

export const isMultipart = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  /^\s*multipart\/form-data\s*(;|$)/i.test(headers["content-type"] ?? "")

/** Ten megabytes in this time are 85 KiB a second. */
const maxTime = "2 minutes"
/** What the parts' headers may add to a file. */
const overhead = 64 * 1024

const malformed = () => new BadRequest({ reason: "The body is not valid multipart/form-data (RFC 7578)" })
const refusal = (error: MultipartError): Failed => error._tag === "ReachedLimit" ? new FileTooLarge() : malformed()

/** What is wrong with a part, when it is not the file. */
const faultOf = ({ filename, name }: PartInfo, isSecond: boolean) => {
  if (name !== "file") return Invalid.field(name.slice(0, 100), "is not a known field")
  if (filename === undefined) return Invalid.field("file", "must be a file with a name that ends in .json or .csv")
  return isSecond ? Invalid.field("file", "must be one file") : undefined
}

type Settle = (result: Effect.Effect<Upload, Failed>) => void

/** Puts the one file together from the pieces of a body. */
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
      const fault = faultOf(info, filename !== undefined)
      if (fault !== undefined) settle(fault)
      else filename = info.filename
      return (chunk) => {
        if (chunk === null || fault !== undefined) return
        size += chunk.length
        if (size > limits.fileBytes) settle(new FileTooLarge())
        else chunks.push(chunk)
      }
    },
    onError: (error) => settle(refusal(error)),
    onDone: () =>
      settle(
        filename === undefined
          ? Invalid.field("file", "is required")
          : Effect.succeed({ filename, bytes: Buffer.concat(chunks) })
      )
  })
}

/**
 * Takes the one file in as it arrives. What is wrong ends the reading at once; the rest is thrown away as it comes, so
 * that a sender that only listens when it is done hears of it.
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
    /** The parser throws on some headers that are none, a name that is not percent-encoded rightly for one. */
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
    // A request's middleware can't be interrupted; this may.
    Effect.interruptible,
    Effect.timeoutFail({ duration: maxTime, onTimeout: () => new BodyTooSlow() })
  )

/** What a repetition of the request must be the same as: the boundary differs each time. */
const fingerprint = ({ bytes, filename }: Upload) =>
  `${filename}\n${createHash("sha256").update(bytes).digest("base64url")}`

/** The upload of a request, to be read when it is wanted, and the request whose text is its fingerprint. */
export const withUpload = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
  const upload = yield* Effect.cached(receive(request))
  return { given: withBody(request, { text: Effect.map(upload, fingerprint) }), upload }
})
