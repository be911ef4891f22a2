import { BodyTooLarge, BodyTooSlow, UnknownCoding } from "#http/answers/body-errors.ts"
import { boundedBody } from "#http/answers/bounded-json.ts"
import { type NotJsonRpc, parseJsonRpc, unreadable } from "#http/answers/json-rpc.ts"
import { CurrentDocument, withDocument } from "#http/api/hub-documents/upload.ts"
import { CurrentUpload, withUpload } from "#http/api/imports/upload.ts"
import { isMultipart } from "#http/api/uploads/receive.ts"
import { withBody } from "#http/connection/with-body.ts"
import { routeMiddleware } from "#http/traits/route-middleware.ts"
import { type Traits } from "#http/traits/Traits.ts"
import { BadRequest } from "#src/shared/Failure.ts"
import { Headers, HttpMethod, HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect } from "effect"
import { isUtf8 } from "node:buffer"
import { type Readable } from "node:stream"

/** Our bodies are small: 1 MiB is far above the largest that its schema allows. */
const maxBytes = 1024 * 1024
/** Our forms have a handful of fields. */
const maxFormBytes = 64 * 1024
/** 1 MiB in this time is 17 KiB per second. */
const maxTime = "60 seconds"

const isForm = (contentType: string | undefined) =>
  /^\s*application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType ?? "")

/** The declared charset of a body; JSON is UTF-8 (RFC 8259 §8.1), of which US-ASCII is a subset. */
const charsetOf = (contentType = "") => /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1]
const isReadable = (charset: string | undefined) => charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)

/** A JSON media type (RFC 6839 §3.1), or none. */
const isJson = (contentType: string | undefined) =>
  contentType === undefined || /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)

const hasBody = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  headers["transfer-encoding"] !== undefined || !/^0*$/.test(headers["content-length"] ?? "")

/** RFC 9110 §8.4: `identity` is the body as it is. */
const codedIn = (request: HttpServerRequest.HttpServerRequest) => {
  const coding = request.headers["content-encoding"] ?? ""
  const isPlain = coding.split(",").every((one) => ["", "identity"].includes(one.trim().toLowerCase()))
  return isPlain || !hasBody(request) ? undefined : new UnknownCoding({ coding: coding.slice(0, 40) })
}

/** JSON is UTF-8 (RFC 8259 §8.1); other bytes would be stored as text that nobody sent. */
const textOf = (bytes: Buffer) =>
  isUtf8(bytes) ? Effect.succeed(bytes.toString("utf8")) : new BadRequest({ reason: "The body is not UTF-8" })

/**
 * Reads a body within the limits. The rest of a larger one is discarded as it comes, and the connection ends after the
 * response, so that a client that reads only after sending everything gets the 413.
 */
export const read = (source: Readable, limit: number) =>
  Effect.async<Buffer, BodyTooLarge | BadRequest>((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const settle = (result: Effect.Effect<Buffer, BodyTooLarge | BadRequest>) => {
      source.off("data", onData).off("end", onEnd).off("error", onError)
      source.resume()
      resume(result)
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) settle(new BodyTooLarge({ limit }))
      else chunks.push(chunk)
    }
    const onEnd = () => settle(Effect.succeed(Buffer.concat(chunks)))
    const onError = () => settle(new BadRequest({ reason: "The body was cut off" }))
    source.on("data", onData).on("end", onEnd).on("error", onError)
    return Effect.sync(() => void source.off("data", onData).off("end", onEnd).off("error", onError).resume())
  }).pipe(
    // A request's middleware is uninterruptible; this must not be.
    Effect.interruptible,
    Effect.timeoutFail({ duration: maxTime, onTimeout: () => new BodyTooSlow() })
  )

const emptyBody = "The body is empty, and must be JSON"

const parse = ({ body }: Traits, text: string): Effect.Effect<unknown, BadRequest | NotJsonRpc> =>
  body === "message" ? Effect.suspend(() => parseJsonRpc(text)) : Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => new BadRequest({ reason: text.trim() === "" ? emptyBody : "The body is not valid JSON" })
  })

/** Sets the content type of plain JSON, whatever JSON type was sent. */
const withJson = (request: HttpServerRequest.HttpServerRequest, traits: Traits, text: string) =>
  withBody(request, {
    headers: Headers.set(request.headers, "content-type", "application/json"),
    text: Effect.succeed(text),
    json: parse(traits, text)
  })

const textFor = ({ optionalBody }: Traits, text: string) => optionalBody && text.trim() === "" ? "{}" : text

const readForm = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
  if (!isForm(request.headers["content-type"])) {
    return yield* new BadRequest({
      reason: "The body must be a form (Content-Type: application/x-www-form-urlencoded)"
    })
  }
  const text = yield* textOf(yield* read(NodeHttpServerRequest.toIncomingMessage(request), maxFormBytes))
  return withBody(request, { text: Effect.succeed(text) })
})

const readJson = Effect.fnUntraced(function*(
  request: HttpServerRequest.HttpServerRequest,
  traits: Traits
) {
  if (!isJson(request.headers["content-type"])) {
    return yield* new BadRequest({
      reason: traits.body === "file"
        ? "The body must be multipart/form-data with one file in its field \"file\""
        : "The body must be JSON (Content-Type: application/json)"
    })
  }
  const charset = charsetOf(request.headers["content-type"])
  if (!isReadable(charset)) {
    return yield* new BadRequest({ reason: `The body must be JSON in UTF-8, not ${charset?.slice(0, 40)}` })
  }
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return yield* new BodyTooLarge({ limit: maxBytes })
  const bytes = yield* read(NodeHttpServerRequest.toIncomingMessage(request), maxBytes)
  const text = yield* textOf(yield* boundedBody(bytes))
  return withJson(request, traits, textFor(traits, text))
})

const readPlainJson = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest, traits: Traits) {
  return yield* codedIn(request) ?? readJson(request, traits)
})

/** A message's error is reported only when the message is read, so that the credential is checked first. */
const readMessage = (request: HttpServerRequest.HttpServerRequest, traits: Traits) =>
  Effect.catchTag(
    readPlainJson(request, traits),
    "BadRequest",
    "UnknownCoding",
    (error) => {
      const told = error instanceof UnknownCoding ? error : unreadable(error.message)
      return Effect.succeed(withBody(request, { text: Effect.fail(told), json: Effect.fail(told) }))
    }
  )

const readAs = { json: readJson, file: readJson, form: readForm, message: readMessage } as const

/**
 * Limits and parses bodies. They are JSON: a form or plain text, which another site's page can post with the user's
 * cookies, is rejected. Only two kinds of route take forms, and nothing else: the OAuth endpoints (RFC 6749 appendix
 * B), which ignore cookies, and the pages, which check a form's origin (http/pages/form.ts). A missing body is reported
 * by the route that needs it.
 */
export const withBoundedBody = routeMiddleware<
  UnknownCoding | Effect.Effect.Error<ReturnType<typeof readJson | typeof withUpload>>
>(
  (request, { traits }, app) => {
    const coded = traits.body === "message" ? undefined : codedIn(request)
    if (coded !== undefined) return coded
    if (traits.body === "file" && isMultipart(request)) {
      return Effect.flatMap(withUpload(request), ({ request: fingerprinted, upload }) =>
        app.pipe(
          Effect.provideService(HttpServerRequest.HttpServerRequest, fingerprinted),
          Effect.provideService(CurrentUpload, upload)
        ))
    }
    if (traits.body === "document") {
      return Effect.flatMap(withDocument(request), ({ document, request: fingerprinted }) =>
        app.pipe(
          Effect.provideService(HttpServerRequest.HttpServerRequest, fingerprinted),
          Effect.provideService(CurrentDocument, document)
        ))
    }
    const withoutBody = !hasBody(request)
    if (withoutBody && (traits.body === "form" || !HttpMethod.hasBody(request.method))) return app
    const parsing = withoutBody
      ? Effect.succeed(withJson(request, traits, textFor(traits, "")))
      : readAs[traits.body](request, traits)
    return Effect.flatMap(parsing, (parsed) => Effect.provideService(app, HttpServerRequest.HttpServerRequest, parsed))
  }
)
