import { Publication, publishFields } from "#src/publishing/Publication.ts"
import { Publishing } from "#src/publishing/Publishing.ts"
import { Input } from "#src/shared/text.ts"
import { Effect } from "effect"
import { tool } from "./Tool.ts"

export const publishingTools = Effect.map(Publishing, (publishing) => [
  tool({
    name: "publish_business",
    title: "Publish a business",
    description: "From a catalog file to a live MCP server that answers about it, in one call: makes the business, " +
      "imports the file, creates and deploys its server, and shows its listing. Use it for a business that is not " +
      "there yet; calling it again makes another. Check warnings and deployment.status in the result.",
    toolset: "directory",
    needs: "session",
    lowerCaseCodes: true,
    effect: "create",
    params: Input(publishFields),
    success: Publication,
    run: (input, report) => publishing.publish(input, report)
  })
])
