import { BodyTooSlow } from "#http/answers/body-errors.ts"
import { type HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect } from "effect"
import { make, type MultipartError, type PartInfo } from "multipasta"

/** A part of a multipart body, whole. */
export interface Part {
  readonly filename: string | undefined
  /** Its media type without parameters, lower case. */
  readonly type: string
  readonly bytes: Buffer
}
export type Parts = ReadonlyMap<string, Part>

/** What a body may hold, and how its faults are told. */
export interface UploadRule<E> {
  /** The most bytes of each known part; one of another name is rejected. */
  readonly most: Readonly<Record<string, number>>
  readonly unknown: (name: string) => E
  readonly repeated: (name: string) => E
  readonly tooLarge: (name: string) => E
  readonly malformed: (reason: string) => E
  /** Of the body as a whole. */
  readonly bodyTooLarge: () => E
}

export const isMultipart = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  /^\s*multipart\/form-data\s*(;|$)/i.test(headers["content-type"] ?? "")

/** 10 MB in this time are 85 KiB per second. */
const maxTime = "2 minutes"
/** Bytes that boundaries and the parts' headers may add. */
const overhead = 64 * 1024

const notMultipart = "The body is not valid multipart/form-data (RFC 7578)"

/** A part's bytes as they arrive. */
class Collected {
  readonly #chunks: Array<Uint8Array> = []
  #size = 0
  readonly #info: PartInfo
  readonly #most: number

  constructor(info: PartInfo, most: number) {
    this.#info = info
    this.#most = most
  }

  /** Whether the part is still within its limit. */
  add(chunk: Uint8Array) {
    this.#size += chunk.length
    if (this.#size <= this.#most) this.#chunks.push(chunk)
    return this.#size <= this.#most
  }

  get part(): Part {
    const { contentType, filename } = this.#info
    return { filename, type: contentType.toLowerCase(), bytes: Buffer.concat(this.#chunks) }
  }
}

type Settle<E> = (result: Effect.Effect<Parts, E>) => void

const totalOf = <E>({ most }: UploadRule<E>) => Object.values(most).reduce((sum, bytes) => sum + bytes, overhead)

/** Collects the parts from the chunks of a body. */
const collector = <E>(contentType: string, rule: UploadRule<E>, settle: Settle<E>) => {
  const parts = new Map<string, Collected>()
  const problemOf = (name: string) => {
    if (!Object.hasOwn(rule.most, name)) return rule.unknown(name.slice(0, 100))
    return parts.has(name) ? rule.repeated(name) : undefined
  }
  const failed = (error: MultipartError) =>
    error._tag === "ReachedLimit" ? rule.bodyTooLarge() : rule.malformed(notMultipart)
  return make({
    headers: { "content-type": contentType },
    maxTotalSize: totalOf(rule),
    isFile: () => true,
    onField: () => undefined,
    onFile: (info) => {
      const { name } = info
      const problem = problemOf(name)
      const part = new Collected(info, rule.most[name] ?? 0)
      if (problem === undefined) parts.set(name, part)
      else settle(Effect.fail(problem))
      return (chunk) => {
        if (chunk !== null && problem === undefined && !part.add(chunk)) settle(Effect.fail(rule.tooLarge(name)))
      }
    },
    onError: (error) => settle(Effect.fail(failed(error))),
    onDone: () => settle(Effect.succeed(new Map([...parts].map(([name, { part }]) => [name, part]))))
  })
}

/**
 * Reads the parts as they arrive. An error ends this at once; the rest of the body is discarded as it comes, so that a
 * client that reads only after sending everything gets the response.
 */
export const receiveParts = <E>(request: HttpServerRequest.HttpServerRequest, rule: UploadRule<E>) =>
  Effect.async<Parts, E>((resume) => {
    const source = NodeHttpServerRequest.toIncomingMessage(request)
    if (Number(request.headers["content-length"] ?? 0) > totalOf(rule)) {
      return resume(Effect.fail(rule.bodyTooLarge()))
    }
    const settle: Settle<E> = (result) => {
      source.off("data", onData).off("end", onEnd).off("error", onCut).off("close", onCut)
      source.resume()
      resume(result)
    }
    const fail = (reason: string) => settle(Effect.fail(rule.malformed(reason)))
    /** The parser throws on some invalid headers, such as a name with broken percent-encoding. */
    const guarded = (work: () => void) => {
      try {
        work()
      } catch {
        fail(notMultipart)
      }
    }
    const onData = (chunk: Buffer) => guarded(() => parser.write(chunk))
    const onEnd = () => {
      guarded(() => parser.end())
      fail(notMultipart)
    }
    const onCut = () => fail("The body was cut off")
    const parser = collector(request.headers["content-type"] ?? "", rule, settle)
    source.on("data", onData).on("end", onEnd).on("error", onCut).on("close", onCut)
    return Effect.sync(() => settle(Effect.interrupt))
  }).pipe(
    // A request's middleware is uninterruptible; this must not be.
    Effect.interruptible,
    Effect.timeoutFail({ duration: maxTime, onTimeout: () => new BodyTooSlow() })
  )
