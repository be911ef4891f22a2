import { Meta, PageArguments, PageQuery } from "#src/shared/paging.ts"
import { optional, Query } from "#src/shared/text.ts"
import { Schema } from "effect"

/** The worst first. `unknown`: nobody has rated it. */
export const severities = ["critical", "high", "medium", "low", "unknown"] as const
export const Severity = Schema.Literal(...severities)
export type Severity = typeof Severity.Type

/** A vulnerability of one package of an image. */
export const Finding = Schema.Struct({
  id: Schema.String.annotations({ description: "As the scanner names it: CVE-…, GHSA-…, DEBIAN-CVE-…" }),
  aliases: Schema.Array(Schema.String).annotations({ description: "Its other names" }),
  package: Schema.String,
  version: Schema.String.annotations({ description: "The installed version" }),
  fixedVersion: Schema.NullOr(Schema.String).annotations({
    description: "The versions that mend it, separated by commas; null when none is known"
  }),
  severity: Severity.annotations({ description: "unknown when nobody has rated it" }),
  title: Schema.String,
  url: Schema.NullOr(Schema.String)
}).annotations({ title: "Vulnerability" })
export type Finding = typeof Finding.Type

/** A page of what was found in an image. */
export const Vulnerabilities = Schema.Struct({
  data: Schema.Array(Finding),
  meta: Schema.Struct({
    ...Meta.fields,
    scanned: Schema.Boolean.annotations({
      description: "Whether a scanner looked at the image; where none did, an empty list says nothing"
    })
  })
}).annotations({ title: "Vulnerabilities" })

const only = optional(Severity).annotations({ description: "Only those of this severity" })

/** The query of a list of vulnerabilities, and the same as a tool's arguments. */
export const VulnerabilitiesQuery = Query({ ...PageQuery.fields, severity: only })
export const vulnerabilitiesArguments = { ...PageArguments, severity: only }

/** How many findings of each severity. */
export const Counts = Schema.Struct({
  critical: Schema.Int,
  high: Schema.Int,
  medium: Schema.Int,
  low: Schema.Int,
  unknown: Schema.Int
})
export type Counts = typeof Counts.Type

export const countsOf = (findings: ReadonlyArray<Finding>): Counts => {
  const counts = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0 }
  for (const { severity } of findings) counts[severity] += 1
  return counts
}

/** "2 critical, 1 high", or "none". */
export const inWords = (counts: Counts) =>
  severities.filter((severity) => counts[severity] > 0).map((severity) => `${counts[severity]} ${severity}`)
    .join(", ") || "none"
