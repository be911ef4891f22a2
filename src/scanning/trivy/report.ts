import { Effect, Schema } from "effect"
import { type Finding, type Severity } from "../Finding.ts"
import { ScanError } from "../Scanner.ts"

const absent = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

const words = {
  CRITICAL: "critical",
  HIGH: "high",
  MEDIUM: "medium",
  LOW: "low",
  UNKNOWN: "unknown"
} as const satisfies Record<string, Severity>

/** Trivy's JSON report, version 2 of its schema. A list is left out where it would be empty. */
const TrivyReport = Schema.Struct({
  SchemaVersion: Schema.Literal(2),
  ArtifactType: Schema.Literal("container_image"),
  Results: absent(Schema.Array(Schema.Struct({
    Target: Schema.String,
    Vulnerabilities: absent(Schema.Array(Schema.Struct({
      VulnerabilityID: Schema.NonEmptyString,
      VendorIDs: absent(Schema.Array(Schema.String)),
      PkgName: Schema.NonEmptyString,
      InstalledVersion: Schema.String,
      FixedVersion: absent(Schema.String),
      PrimaryURL: absent(Schema.String),
      Title: absent(Schema.String),
      Description: absent(Schema.String),
      Severity: Schema.Literal("CRITICAL", "HIGH", "MEDIUM", "LOW", "UNKNOWN")
    })))
  })))
})

const decode = Schema.decodeUnknown(Schema.parseJson(TrivyReport))

/** The findings of a report. What can't be read is no report: it would count as an image without a fault. */
export const readReport = (text: string): Effect.Effect<ReadonlyArray<Finding>, ScanError> =>
  decode(text).pipe(
    Effect.mapError(() => new ScanError({ message: "Trivy printed no report that can be read" })),
    Effect.map(({ Results }) =>
      (Results ?? []).flatMap(({ Vulnerabilities }) => Vulnerabilities ?? []).map((found): Finding => ({
        id: found.VulnerabilityID,
        aliases: found.VendorIDs ?? [],
        package: found.PkgName,
        version: found.InstalledVersion,
        fixedVersion: found.FixedVersion || null,
        severity: words[found.Severity],
        title: (found.Title || found.Description || "").slice(0, 500),
        url: found.PrimaryURL || null
      }))
    )
  )
