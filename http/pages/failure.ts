import { preferred } from "#http/answers/accept.ts"
import { type Failure } from "#src/shared/Failure.ts"
import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { messagePage } from "./message-page.ts"
import { page } from "./respond.ts"

const pages = /^\/(oauth|api\/v1\/oauth\/authorize)(\/|\?|$)/

/** Whether a failure is to be shown to a person: the path is a page's, and the caller would rather have one than JSON. */
export const wantsPage = ({ headers, url }: HttpServerRequest.HttpServerRequest) =>
  pages.test(url) && preferred(headers, ["application/json", "text/html"]) === "text/html"

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

/** A failure as a page. */
export const failurePage = ({ allow, message, retryAfter, status }: Failure, requestId?: string) =>
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
