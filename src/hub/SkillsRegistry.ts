import { CurrentSettings } from "#src/config/Settings.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { isUlid } from "#src/shared/ids.ts"
import { optional, Query } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
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

/** Any text: what is wrong is told with the contract's `validation_error`, by the service. */
const filters = {
  listing_id: optional(Schema.String).annotations({ description: "One listing, by its ULID" }),
  format: optional(Schema.String).annotations({ description: "skill_md or json" }),
  cursor: optional(Schema.String).annotations({ description: "next_cursor of the page before, a ULID" })
}
const limit = {
  description: `1 to ${pageSizes.most}, ${pageSizes.default} by default`,
  jsonSchema: { type: "integer", minimum: 1, maximum: pageSizes.most, default: pageSizes.default }
}

export const SkillsQuery = Query({ ...filters, limit: optional(Schema.String.annotations(limit)) })
export const skillsArguments = { ...filters, limit: optional(Schema.Unknown.annotations(limit)) }

type SkillsFilter =
  & { readonly [K in keyof typeof filters]?: string }
  & { readonly limit?: unknown }

/** Contract: Hub error codes, skills registry. */
export class BadSkillsQuery extends Schema.TaggedError<BadSkillsQuery>()(
  "BadSkillsQuery",
  { path: Schema.String, problem: Schema.String },
  failsWith(400, "VALIDATION_ERROR")
) {
  override get message() {
    return `${this.path}: ${this.problem}`
  }
  get details() {
    return { issues: [{ path: this.path, message: this.problem }] }
  }
}

const isFormat = Schema.is(DocumentFormat)
/** Digits in a query, a number in a tool's arguments. */
const isSize = (limit: unknown) =>
  (typeof limit === "number" || typeof limit === "string") && /^\d{1,3}$/.test(String(limit)) &&
  Number(limit) >= 1 && Number(limit) <= pageSizes.most

/** What is wrong with a query; undefined when nothing is. */
const problemOf = ({ cursor, format, limit, listing_id: listingId }: SkillsFilter) => {
  const no = (path: string, problem: string) => new BadSkillsQuery({ path, problem })
  if (listingId !== undefined && !isUlid(listingId)) return no("listing_id", "must be a 26-character ULID")
  if (format !== undefined && !isFormat(format)) return no("format", "must be skill_md or json")
  if (limit !== undefined && !isSize(limit)) {
    return no("limit", `must be an integer between 1 and ${pageSizes.most}`)
  }
  return cursor !== undefined && !isUlid(cursor) ? no("cursor", "must be next_cursor of the page before") : undefined
}

/** Active listings with a capability document, for anybody (contract: `/.well-known/mcp-skills`). */
export class SkillsRegistry extends Effect.Service<SkillsRegistry>()("hub/SkillsRegistry", {
  effect: Effect.gen(function*() {
    const repo = yield* CapabilityDocsRepo
    const { hubUrl } = yield* CurrentSettings

    /** In the order of the listings' ids, so that a page begins where the one before ended whatever came meanwhile. */
    const list = Effect.fn("SkillsRegistry.list")(function*(query: SkillsFilter) {
      const problem = problemOf(query)
      if (problem !== undefined) return yield* problem
      const { cursor: after, format, listing_id: listingId } = query
      const limit = Number(query.limit ?? pageSizes.default)
      const rows = yield* repo.entries({
        after,
        listingId,
        format: format === undefined || !isFormat(format) ? undefined : format,
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
