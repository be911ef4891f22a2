import { preferred } from "#http/answers/accept.ts"
import { type Traits } from "#http/traits/Traits.ts"
import { type Failure } from "#src/shared/Failure.ts"
import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { messagePage } from "./message-page.ts"
import { page } from "./respond.ts"

/** Whether to show a failure as HTML: the route is a page, and the caller prefers HTML to JSON. */
const wantsPage = ({ headers }: HttpServerRequest.HttpServerRequest, { failure }: Traits) =>
  failure === "page" && preferred(headers, ["application/json", "text/html"]) === "text/html"

const titles: Readonly<Record<number, string>> = {
  401: "Sign in first",
  403: "This is not allowed",
  404: "There is nothing here",
  405: "There is nothing here",
  413: "That is too much",
  429: "Too many requests",
  500: "Something went wrong",
  503: "Not available at the moment"
}

const pageOf = ({ allow, message, retryAfter, status }: Failure, requestId: string) =>
  HttpServerResponse.setHeaders(
    page(
      messagePage({ title: titles[status] ?? "This request is not valid", message: [`${message}.`], requestId }),
      status
    ),
    {
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
      ...(allow === undefined ? {} : { allow: allow.join(", ") }),
      ...(status === 413 ? { connection: "close" } : {})
    }
  )

/** A failure as a page, for callers that prefer HTML. */
export const failurePage = (
  request: HttpServerRequest.HttpServerRequest,
  traits: Traits,
  failure: Failure,
  requestId: string
) => wantsPage(request, traits) ? pageOf(failure, requestId) : undefined
