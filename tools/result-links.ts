import { type ResourceLink } from "@modelcontextprotocol/sdk/types.js"
import { Predicate } from "effect"

/** Fields that name a document for anybody, and what it is. */
const documents: Readonly<Record<string, Omit<ResourceLink, "type" | "uri">>> = {
  pageUrl: { name: "page", title: "Page for people", mimeType: "text/html" },
  skillUrl: { name: "SKILL.md", mimeType: "text/markdown" },
  skillMdUrl: { name: "SKILL.md", mimeType: "text/markdown" },
  capabilityDocUrl: { name: "capability document" }
}

/** Links to the documents of one thing; rows of a list say theirs in their fields. */
export const linksOf = (value: unknown): ReadonlyArray<ResourceLink> =>
  Predicate.isRecord(value)
    ? Object.entries(documents).flatMap(([field, document]) => {
      const uri = value[field]
      return typeof uri === "string" && uri !== "" ? [{ type: "resource_link" as const, uri, ...document }] : []
    })
    : []
