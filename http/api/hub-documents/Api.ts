import { BodyTooSlow } from "#http/answers/body-errors.ts"
import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { StorageUnavailable } from "#src/blobs/BlobStore.ts"
import {
  CapabilityDoc,
  DocumentNotFound,
  DocumentNotValid,
  ListingDelisted,
  TooManyUploads
} from "#src/hub/CapabilityDoc.ts"
import { NotYourListing } from "#src/hub/ListingAnalytics.ts"
import { BadListingId } from "#src/hub/ListingSkills.ts"
import { SkillsPage, SkillsParameters } from "#src/hub/SkillsRegistry.ts"
import { ListingNotFound } from "#src/listings/Listing.ts"
import { PlanLimitReached } from "#src/plans/PlanLimitReached.ts"
import { LowDisk } from "#src/shared/Disk.ts"
import { BadQuery } from "#src/shared/query-parameters.ts"
import { RateLimitUnavailable } from "#src/shared/RateLimit.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, Multipart, OpenApi } from "@effect/platform"
import { Schema } from "effect"

const listingPath = Schema.Struct({ listingId: Schema.String })
const root = "/api/v1/hub/listings/:listingId/capability-doc"
const open = { credential: "hub", rate: "hub", openToPages: true } as const

const upload = HttpApiEndpoint.post("upload", root)
  .setPath(listingPath)
  .setPayload(HttpApiSchema.MultipartStream(Schema.Struct({ file: Multipart.SingleFileSchema })))
  .addSuccess(CapabilityDoc, { status: 201 })
  .addError(BadListingId)
  .addError(DocumentNotValid)
  .addError(NotYourListing)
  .addError(PlanLimitReached)
  .addError(ListingNotFound)
  .addError(BodyTooSlow)
  .addError(ListingDelisted)
  .addError(TooManyUploads)
  .addError(RateLimitUnavailable)
  .addError(StorageUnavailable)
  .addError(LowDisk)
  .middleware(Authentication)
  .annotate(RouteTraits, { body: "document", takes: "session" })
  .annotate(OpenApi.Summary, "Upload the capability document of a listing of yours, in place of the one before")
  .annotate(
    OpenApi.Description,
    "Session only; the listing must be in the directory. One file of at most 512 KB in the field `file`, text in UTF-8: " +
      "text/markdown, text/x-markdown or text/plain is a SKILL.md (`skill_md`), application/json is `json`; as " +
      "application/octet-stream the end of its name decides. Read from it are name, description and tools: of a SKILL.md " +
      "from its YAML frontmatter, else its first heading, its first paragraph and the bullets below a heading Tools; of " +
      "JSON from the object's fields. `tools` is a list of names or of { name, description }, or a mapping, of at most 1,000. " +
      "400 validation_error tells what can't be read, and for keys that begin with `hub:`. So many uploads a minute as the " +
      "hub takes requests from an IP address (60 by default), by user. The plan limits the bytes of all documents, those " +
      "replaced within the hour too (403 plan_limit_reached)."
  )

const get = HttpApiEndpoint.get("get", root)
  .setPath(listingPath)
  .addSuccess(Data(CapabilityDoc))
  .addError(BadListingId)
  .addError(DocumentNotFound)
  .annotate(RouteTraits, open)
  .annotate(OpenApi.Summary, "Read what a listing's capability document says")
  .annotate(OpenApi.Description, "Public. `capabilityDocUrl` has the document itself.")

const content = HttpApiEndpoint.get("content", `${root}/content`)
  .setPath(listingPath)
  .addSuccess(HttpApiSchema.Text({ contentType: "text/markdown; charset=utf-8" }))
  .addError(BadListingId)
  .addError(DocumentNotFound)
  .addError(StorageUnavailable)
  .annotate(RouteTraits, open)
  .annotate(OpenApi.Summary, "Read a listing's capability document, as it was uploaded")
  .annotate(
    OpenApi.Description,
    "Public. The same address for each document that follows; has an ETag. Of format `json` it is application/json. " +
      "Its text is the owner's, not the hub's."
  )

const skills = HttpApiEndpoint.get("skills", "/.well-known/mcp-skills")
  .setUrlParams(SkillsParameters)
  .addSuccess(SkillsPage)
  .addError(BadQuery)
  .annotate(RouteTraits, open)
  .annotate(OpenApi.Summary, "List the capability documents of the directory")
  .annotate(
    OpenApi.Description,
    "Public. Listings in the directory that have one, in the order of their ids; next_cursor is there when more follow."
  )

export class HubDocumentsApi extends HttpApiGroup.make("hubDocuments")
  .add(upload)
  .add(get)
  .add(content)
  .add(skills)
  .annotate(OpenApi.Title, "Capability documents")
{}
