import { DryRun, Publication, publishFields } from "#src/publishing/Publication.ts"
import { Publishing } from "#src/publishing/Publishing.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

export const publishingTools = Effect.map(Publishing, (publishing) => [
  tool({
    name: "publish_business",
    title: "Publish a business",
    description: "From a catalog file to a live MCP server that answers about it, in one call: makes the business, " +
      "imports the file, deploys its server, and shows its listing. For a business that is there give businessId; without " +
      "it calling again makes another one. Call it with dryRun first: when suggested_mappings is not empty, check it with " +
      "the user and pass what is right as mappings; ask which of price_candidates customers pay. Check warnings and deployment.status; import_revert (call_tool) " +
      "takes the import back. A CSV file has no place: give profile.contact.address.city, by which agents find the business.",
    toolset: "directory",
    needs: "session",
    lowerCaseCodes: true,
    effect: "create",
    params: Input(publishFields),
    success: Schema.Union(Publication, DryRun),
    run: (input, report) => publishing.request(input, report)
  })
])
