import { isKnown } from "#http/answers/conditional.ts"
import { type CapabilityDocs } from "#src/hub/CapabilityDocs.ts"
import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

type Content = Effect.Effect.Success<ReturnType<CapabilityDocs["content"]>>

/** Contract: Hub endpoints, get capability doc. */
export const documentCache = "public, max-age=120, stale-while-revalidate=600"

const types = { skill_md: "text/markdown; charset=utf-8", json: "application/json" } as const

/** The document's bytes. Whoever has them already costs no read of the store. */
export const documentResponse =
  (request: HttpServerRequest.HttpServerRequest) => ({ bytes, digest, format }: Content) => {
    const etag = `"${digest.slice(0, 32)}"`
    const headers = { etag, "cache-control": documentCache }
    return isKnown(request.headers["if-none-match"], etag)
      ? Effect.succeed(HttpServerResponse.empty({ status: 304, headers }))
      : Effect.map(bytes, (body) => HttpServerResponse.uint8Array(body, { headers, contentType: types[format] }))
  }
