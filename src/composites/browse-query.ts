import { issuesOf } from "#src/format/issues.ts"
import { PageQuery } from "#src/shared/paging.ts"
import { BadQuery, queryParameters } from "#src/shared/query-parameters.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"

export const { Arguments: BrowseArguments, Parameters: BrowseParameters } = queryParameters({
  limit: {
    description: "1 to 100, 20 by default",
    jsonSchema: { type: "integer", minimum: 1, maximum: 100, default: 20 }
  },
  cursor: { description: "meta.cursor of the page before", jsonSchema: { type: "string" } }
})

export interface PageFields {
  readonly limit?: unknown
  readonly cursor?: unknown
}

const decode = Schema.decodeUnknown(Input(PageQuery.fields))
/** A tool's argument may be a number. */
const asText = (value: unknown) => typeof value === "number" ? String(value) : value

/** Which page is asked for; what is not valid is 400. */
export const pageOf = ({ limit, ...rest }: PageFields) =>
  Effect.mapError(
    decode(limit === undefined ? rest : { ...rest, limit: asText(limit) }),
    (error) => new BadQuery({ issues: issuesOf(error) })
  )
