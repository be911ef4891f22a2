import { apiOf } from "#http/answers/group.ts"
import { DynamicComposites } from "#src/composites/DynamicComposites.ts"
import { HttpApiBuilder, HttpApp, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { HubCompositesQueryApi } from "./Api.ts"

/** Contract: Composite skill, computed on every request. */
const noStore = HttpApp.appendPreResponseHandler((_, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "cache-control", "no-store"))
)

export const HubCompositesQueryHandlers = HttpApiBuilder.group(
  apiOf(HubCompositesQueryApi),
  "hubCompositesQuery",
  (handlers) =>
    Effect.map(DynamicComposites, (composites) =>
      handlers.handle("query", ({ urlParams }) => Effect.zipLeft(composites.query(urlParams), noStore)))
)
