import { failsWith } from "#src/shared/Failure.ts"
import { QueryLimit } from "#src/shared/paging.ts"
import { characters, OpenQuery, optional, Text, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"

const Remote = Schema.Struct({ type: Schema.Literal("streamable-http", "sse"), url: Schema.String })

/** One server in the shape of the MCP registry's API, version 0.1 (its OpenAPI document of 2025-12-01). */
export const RegistryEntry = Schema.Struct({
  server: Schema.Struct({
    $schema: Schema.String,
    name: Schema.String,
    title: Schema.String,
    description: Schema.String,
    version: Schema.String,
    websiteUrl: optional(Schema.String),
    remotes: Schema.Array(Remote)
  }),
  _meta: Schema.Struct({
    "io.modelcontextprotocol.registry/official": Schema.Struct({
      status: Schema.Literal("active"),
      publishedAt: Timestamp,
      updatedAt: Timestamp,
      isLatest: Schema.Boolean
    })
  })
}).annotations({ title: "RegistryEntry" })
export type RegistryEntry = typeof RegistryEntry.Type

/** `nextCursor` is absent on the last page. */
export const RegistryPage = Schema.Struct({
  servers: Schema.Array(RegistryEntry),
  metadata: Schema.Struct({ count: Schema.Int, nextCursor: optional(Schema.String) })
})

/** RFC 3339, as the registry's document requires. */
const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

const Since = Schema.String.pipe(
  Schema.filter(
    (text) => rfc3339.test(text) && !Number.isNaN(Date.parse(text)) || "must be a time like 2026-01-31T12:00:00Z",
    {
      jsonSchema: { format: "date-time" }
    }
  ),
  Schema.transform(Schema.DateFromSelf, { decode: (text) => new Date(text), encode: (date) => date.toISOString() })
)

export const RegistryQuery = OpenQuery({
  limit: Schema.optionalWith(QueryLimit(100), { exact: true, default: () => 30 }),
  cursor: optional(Schema.String),
  search: optional(
    Text(200).annotations({
      description:
        "Part of the name behind the slash, or of the title, in upper or lower case; with a slash, part of the " +
        "full name. The namespace alone is the same for all servers, and is not searched"
    })
  ),
  updated_since: optional(Since),
  version: optional(Text(255).annotations({ description: "latest, or one version" }))
})
export type RegistryQuery = typeof RegistryQuery.Type

export class UnknownRegistryServer
  extends Schema.TaggedError<UnknownRegistryServer>()("UnknownRegistryServer", {}, failsWith(404))
{
  override get message() {
    return "There is no such server or version"
  }
}

/** The registry allows at most 100 characters for either. */
const truncate = (text: string) => {
  const line = text.replace(/\s+/g, " ").trim()
  return characters(line) <= 100 ? line : `${[...line].slice(0, 99).join("").trimEnd()}…`
}
export const title = truncate
export const description = truncate
