import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { templates } from "#src/imports/templates.ts"
import { HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/** Contract: Import, templates. */
export const TemplatesRoutes = rawRoutes((add) =>
  Effect.forEach(Object.entries(templates), ([name, csv]) =>
    add(
      "GET",
      `/hub/templates/${name}.csv`,
      {},
      Effect.succeed(HttpServerResponse.text(csv, {
        contentType: "text/csv; charset=utf-8",
        headers: {
          "content-disposition": `attachment; filename="${name}.csv"`,
          "cache-control": "public, max-age=3600"
        }
      }))
    ), { discard: true })
)
