import { templates } from "#src/imports/templates.ts"
import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/** Contract: "Downloadable templates". */
export const TemplatesRoutes = HttpApiBuilder.Router.use((router) =>
  Effect.forEach(Object.entries(templates), ([name, csv]) =>
    router.get(
      `/hub/templates/${name}.csv`,
      Effect.succeed(HttpServerResponse.text(csv, {
        contentType: "text/csv; charset=utf-8",
        headers: {
          "content-disposition": `attachment; filename="${name}.csv"`,
          "cache-control": "public, max-age=3600"
        }
      }))
    ), { discard: true })
)
