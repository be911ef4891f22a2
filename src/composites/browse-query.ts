import { issuesOf } from "#src/format/issues.ts"
import { PageQuery } from "#src/shared/paging.ts"
import { optional, Query } from "#src/shared/text.ts"
import { Effect, Record, Schema } from "effect"
import { BadCompositeQuery } from "./QueryDefinition.ts"

/** Any value: what is wrong is told with `validation_error`, by the service. */
const described = {
  limit: {
    description: "1 to 100, 20 by default",
    jsonSchema: { type: "integer", minimum: 1, maximum: 100, default: 20 }
  },
  cursor: { description: "meta.cursor of the page before", jsonSchema: { type: "string" } }
} as const
const Parameter = Schema.Union(Schema.String, Schema.Array(Schema.String))

export const BrowseQuery = Query(
  Record.map(described, (annotations) => optional(Parameter.annotations(annotations)))
)
export const browseArguments = Record.map(described, (annotations) => optional(Schema.Unknown.annotations(annotations)))

export interface PageFields {
  readonly limit?: unknown
  readonly cursor?: unknown
}

const decode = Schema.decodeUnknown(PageQuery)
/** A tool's argument may be a number. */
const asText = (value: unknown) => typeof value === "number" ? String(value) : value

/** Which page is asked for; what is not valid is 400. */
export const pageOf = ({ limit, ...rest }: PageFields) =>
  Effect.mapError(
    decode(limit === undefined ? rest : { ...rest, limit: asText(limit) }),
    (error) => new BadCompositeQuery({ issues: issuesOf(error) })
  )
