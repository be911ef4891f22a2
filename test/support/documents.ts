import { type Account, type Holder } from "./account.ts"
import { type Business, newBusiness } from "./business.ts"
import { multipart, type Part } from "./imports.ts"

export interface Doc {
  readonly capabilityDocUrl: string
  readonly format: string
  readonly parsed: {
    readonly name: string
    readonly description: string
    readonly tools: ReadonlyArray<{ readonly name: string; readonly description: string }>
  }
}

export const docOf = (listingId: string) => `/api/v1/hub/listings/${listingId}/capability-doc`

export const sendDoc = (
  holder: Pick<Holder, "request">,
  listingId: string,
  content: Part["content"],
  part: Partial<Part> = {}
) =>
  holder.request<Doc>(
    "POST",
    docOf(listingId),
    multipart([{ filename: "SKILL.md", type: "text/markdown", ...part, content }])
  )

/** A business whose listing is in the directory. */
export const listed = async (owner: Account, fields: Readonly<Record<string, unknown>> = {}): Promise<Business> => {
  const business = await newBusiness(owner, fields)
  await owner.patch(`/v1/directory/${business.listingId}`, { visible: true })
  return business
}

export const skillMd = [
  "---",
  "name: copper-ladle",
  "description: Soups and stews.",
  "tools:",
  "  - name: order_soup",
  "    description: Orders a soup.",
  "---",
  "# Copper Ladle",
  ""
].join("\n")
