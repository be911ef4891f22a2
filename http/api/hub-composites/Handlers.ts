import { asIs } from "#http/answers/as-is.ts"
import { conditional } from "#http/answers/conditional.ts"
import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { BrowseComposites } from "#src/composites/BrowseComposites.ts"
import { Composite } from "#src/composites/Composite.ts"
import { Composites } from "#src/composites/Composites.ts"
import { CompositeSkills } from "#src/composites/CompositeSkills.ts"
import { DynamicPage } from "#src/composites/DynamicComposite.ts"
import { DynamicComposites } from "#src/composites/DynamicComposites.ts"
import { PageOf } from "#src/shared/paging.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { HubCompositesApi } from "./Api.ts"
import { computedNow, truncatedHeader } from "./headers.ts"

const dynamicPage = asIs(DynamicPage)
const browsePage = asIs(PageOf(Composite))

/** What they are made of may have changed a moment later: a copy is asked about before it is used. */
const caching = { "cache-control": "private, no-cache", vary: "Authorization, X-API-Key, Cookie" }

export const HubCompositesHandlers = HttpApiBuilder.group(
  apiOf(HubCompositesApi),
  "hubComposites",
  (handlers) =>
    Effect.map(
      Effect.all([Composites, BrowseComposites, CompositeSkills, DynamicComposites]),
      ([composites, catalog, skills, dynamic]) =>
        handlers
          .handle(
            "query",
            ({ urlParams }) => Effect.zipLeft(Effect.map(dynamic.query(urlParams), dynamicPage), computedNow)
          )
          .handle(
            "browse",
            ({ urlParams }) => Effect.zipLeft(Effect.map(catalog.browse(urlParams), browsePage), computedNow)
          )
          .handle("mine", () => composites.mine().pipe(Effect.zipLeft(computedNow), Effect.tap(truncatedHeader)))
          .handle("create", ({ payload }) => Effect.map(composites.create(payload), data))
          .handle("get", ({ path }) => Effect.zipLeft(Effect.map(composites.get(path.compositeId), data), computedNow))
          .handle("update", ({ path, payload }) => Effect.map(composites.update(path.compositeId, payload), data))
          .handle("delete", ({ path }) => composites.remove(path.compositeId))
          .handle("promote", ({ path }) => Effect.map(composites.promote(path.compositeId), data))
          .handle("skill", ({ path, request }) =>
            Effect.map(
              skills.get(path.compositeId),
              ({ text }) => conditional(request, text, "text/markdown; charset=utf-8", caching)
            ))
    )
)
