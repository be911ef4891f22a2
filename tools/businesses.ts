import { Business, createBusinessFields, updateBusinessFields } from "#src/businesses/Business.ts"
import { Businesses } from "#src/businesses/Businesses.ts"
import { OwnListing, updateListingFields } from "#src/listings/Listing.ts"
import { lineOf } from "#src/shared/outside-text.ts"
import { PageArguments, PageOf } from "#src/shared/paging.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

const businessId = { businessId: Schema.String }
const directory = { toolset: "directory", needs: "session", lowerCaseCodes: true } as const

export const businessTools = Effect.map(Businesses, (businesses) => [
  tool({
    ...directory,
    name: "create_business",
    title: "Create a business",
    description:
      "Creates a business in a project, with a hidden listing; publish_business does this and all that follows in one call. " +
      "Next: import its catalog, link a server by update_business, then set_visibility.",
    effect: "create",
    params: Input(createBusinessFields),
    success: Business,
    run: (input) => businesses.create(input)
  }),
  tool({
    ...directory,
    name: "list_businesses",
    title: "List businesses",
    description: "Lists the businesses of your account, newest first.",
    effect: "read",
    params: Input(PageArguments),
    success: PageOf(Business),
    run: (page) => businesses.list(page)
  }),
  tool({
    ...directory,
    name: "get_business",
    title: "Read a business",
    description:
      "Reads one of your businesses: profile, hours, linked server and its health, verification level. Read it before " +
      "update_business, which replaces hours as a whole.",
    effect: "read",
    params: Input(businessId),
    success: Business,
    run: (input) => businesses.get(input.businessId)
  }),
  tool({
    ...directory,
    name: "update_business",
    title: "Change a business",
    description: "Changes a business's profile, contact, hours, feature flags, integrations or linked server. " +
      "What is not given stays; hours and integrations are replaced as a whole.",
    effect: "update",
    params: Input({ ...businessId, ...updateBusinessFields }),
    success: Business,
    run: ({ businessId, ...input }) => businesses.update(businessId, input)
  }),
  tool({
    ...directory,
    name: "delete_business",
    title: "Delete a business",
    description:
      "Deletes a business with its catalog and listing. Irreversible: ask first; set_visibility only hides it. " +
      "Its server stays: delete_server.",
    effect: "delete",
    params: Input(businessId),
    confirm: (input) =>
      Effect.map(
        businesses.visible(input.businessId),
        ({ name }) => `Delete the business "${lineOf(name, 200)}" with its catalog and listing? It can't be undone.`
      ),
    run: (input) => businesses.remove(input.businessId)
  }),
  tool({
    ...directory,
    name: "update_listing",
    title: "Change a listing",
    description:
      "Changes how a business appears in the directory: name, description, categories, tags, image, whether agents " +
      "without a login find it (agentAccess) and whether composites may call its server (composable). Name, description " +
      "and categories are the business's own until they are set here, and again when null. set_visibility shows or hides it.",
    effect: "update",
    params: Input({ ...businessId, ...updateListingFields }),
    success: OwnListing,
    run: ({ businessId, ...input }) => businesses.updateListing(businessId, input)
  })
])
