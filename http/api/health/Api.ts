import { RouteTraits } from "#http/traits/Traits.ts"
import { blockLevels } from "#src/config/scanning.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"

/**
 * Contract: `GET /v1/health`. Additions are `compute`, the machine driver, what it enforces, and what this host
 * lacks, and `scanner`, what looks for vulnerabilities in images.
 */
export const HealthReport = Schema.Struct({
  status: Schema.Literal("ok", "degraded"),
  version: Schema.String,
  timestamp: Schema.String,
  services: Schema.Struct({ database: Schema.Literal("up", "down") }),
  compute: Schema.Struct({
    driver: Schema.String,
    tier: Schema.String,
    enforces: Schema.Array(Schema.String),
    lacks: Schema.Array(Schema.String)
  }),
  scanner: Schema.Struct({
    driver: Schema.Literal("trivy", "osv", "none"),
    /** Deployments with a vulnerability of this severity or a higher one are refused. */
    refuses: Schema.NullOr(Schema.Literal(...blockLevels))
  })
})

export class HealthApi extends HttpApiGroup.make("health")
  .add(
    HttpApiEndpoint.get("health", "/v1/health")
      .addSuccess(HealthReport)
      .addSuccess(HealthReport, { status: 503 })
      .annotate(RouteTraits, { probe: true, openToPages: true, query: "any" })
      .annotate(OpenApi.Summary, "Whether the service can do its work; 503 while the database is away")
  )
  .annotate(OpenApi.Title, "Health")
{}
