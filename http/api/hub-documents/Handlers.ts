import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { CapabilityDocs } from "#src/hub/CapabilityDocs.ts"
import { SkillsRegistry } from "#src/hub/SkillsRegistry.ts"
import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { HubDocumentsApi } from "./Api.ts"
import { documentCache, documentResponse } from "./document-response.ts"
import { CurrentDocument } from "./upload.ts"

const cached = (cacheControl: string) => (body: unknown) =>
  HttpServerResponse.unsafeJson(body, { headers: { "cache-control": cacheControl } })

export const HubDocumentsHandlers = HttpApiBuilder.group(
  apiOf(HubDocumentsApi),
  "hubDocuments",
  (handlers) =>
    Effect.map(Effect.all([CapabilityDocs, SkillsRegistry]), ([documents, registry]) =>
      handlers
        .handle("upload", ({ path }) => documents.upload(path.listingId, Effect.flatten(CurrentDocument)))
        .handle(
          "get",
          ({ path }) => Effect.map(Effect.map(documents.get(path.listingId), data), cached(documentCache))
        )
        .handle(
          "content",
          ({ path, request }) => Effect.flatMap(documents.content(path.listingId), documentResponse(request))
        )
        .handle(
          "skills",
          ({ urlParams }) =>
            Effect.map(registry.list(urlParams), cached("public, max-age=60, stale-while-revalidate=300"))
        ))
)
