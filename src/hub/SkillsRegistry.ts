import { CurrentSettings } from "#src/config/Settings.ts"
import { unknownField } from "#src/format/issues.ts"
import { isUlid } from "#src/shared/ids.ts"
import { BadQuery, queryParameters } from "#src/shared/query-parameters.ts"
import { optional } from "#src/shared/text.ts"
import { Effect, Schema, Struct } from "effect"
import { DocumentFormat } from "./CapabilityDoc.ts"
import { CapabilityDocsRepo } from "./CapabilityDocsRepo.ts"
import { documentUrl } from "./document-url.ts"

/** Contract: Skills registry entry. */
const SkillsEntry = Schema.Struct({
  id: Schema.String.annotations({ description: "The listing's id, a ULID" }),
  name: Schema.String.annotations({ description: "The listing's name" }),
  capability_doc_url: Schema.String,
  capability_doc_format: DocumentFormat
}).annotations({ title: "SkillsEntry" })

export const SkillsPage = Schema.Struct({
  listings: Schema.Array(SkillsEntry),
  next_cursor: optional(Schema.String).annotations({ description: "Absent on the last page" })
})

/** Contract: Limits, skills registry page size. */
const pageSizes = { most: 200, default: 50 } as const

const described = {
  listing_id: { description: "One listing, by its ULID", jsonSchema: { type: "string" } },
  format: { description: "skill_md or json", jsonSchema: { type: "string" } },
  cursor: { description: "next_cursor of the page before, a ULID", jsonSchema: { type: "string" } },
  limit: {
    description: `1 to ${pageSizes.most}, ${pageSizes.default} by default`,
    jsonSchema: { type: "integer", minimum: 1, maximum: pageSizes.most, default: pageSizes.default }
  }
} as const
export const { Arguments: SkillsArguments, Parameters: SkillsParameters } = queryParameters(described)

type SkillsFilter = { readonly [K in keyof typeof described]?: unknown }

const isFormat = Schema.is(DocumentFormat)
const isId = (value: unknown): value is string => typeof value === "string" && isUlid(value)
/** Digits in a query, a number in a tool's arguments. */
const isSize = (limit: unknown) =>
  (typeof limit === "number" || typeof limit === "string") && /^\d{1,3}$/.test(String(limit)) &&
  Number(limit) >= 1 && Number(limit) <= pageSizes.most

const rules = {
  listing_id: { isValid: isId, must: "must be a 26-character ULID" },
  format: { isValid: isFormat, must: "must be skill_md or json" },
  limit: { isValid: isSize, must: `must be an integer between 1 and ${pageSizes.most}` },
  cursor: { isValid: isId, must: "must be next_cursor of the page before" }
}

/** What is wrong with a query. */
const issuesOf = (query: SkillsFilter) => [
  ...Object.keys(query).filter((name) => !Object.hasOwn(rules, name))
    .map((path) => ({ path, message: unknownField(path, Object.keys(rules)) })),
  ...Struct.keys(rules)
    .filter((name) => query[name] !== undefined && !rules[name].isValid(query[name]))
    .map((path) => ({ path, message: Array.isArray(query[path]) ? "must be there once" : rules[path].must }))
]

/** Active listings with a capability document, for anybody (contract: `/.well-known/mcp-skills`). */
export class SkillsRegistry extends Effect.Service<SkillsRegistry>()("hub/SkillsRegistry", {
  effect: Effect.gen(function*() {
    const repo = yield* CapabilityDocsRepo
    const { hubUrl } = yield* CurrentSettings

    /** In the order of the listings' ids, so that a page begins where the one before ended whatever came meanwhile. */
    const list = Effect.fn("SkillsRegistry.list")(function*(query: SkillsFilter) {
      const issues = issuesOf(query)
      if (issues.length > 0) return yield* new BadQuery({ issues })
      const { cursor, format, listing_id: listingId } = query
      const limit = Number(query.limit ?? pageSizes.default)
      const rows = yield* repo.entries({
        after: isId(cursor) ? cursor : undefined,
        listingId: isId(listingId) ? listingId : undefined,
        format: isFormat(format) ? format : undefined,
        count: limit + 1
      })
      const listings = rows.slice(0, limit).map(({ format, id, name }) => ({
        id,
        name,
        capability_doc_url: documentUrl(hubUrl, id),
        capability_doc_format: format
      }))
      const last = rows.length > limit ? listings.at(-1) : undefined
      return { listings, ...(last === undefined ? {} : { next_cursor: last.id }) }
    })

    return { list } as const
  })
}) {}
