import { BadRequest } from "#src/shared/Failure.ts"
import { type HttpApp, HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"

/** A JSON media type (RFC 6839 §3.1), or none said. */
const isJson = (contentType: string | undefined) =>
  contentType === undefined || /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)

const hasBody = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  headers["transfer-encoding"] !== undefined || !/^0*$/.test(headers["content-length"] ?? "")

/** Bodies are JSON (design: bodies); a form or a text that a page of elsewhere can post is not taken for it. */
export const jsonOnly = <E, R>(app: HttpApp.Default<E, R>) =>
  Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    (request): HttpApp.Default<E | BadRequest, R> =>
      hasBody(request) && !isJson(request.headers["content-type"])
        ? new BadRequest({ reason: "The body must be JSON (Content-Type: application/json)" })
        : app
  )
