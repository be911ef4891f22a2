import { Directory } from "#src/directory/Directory.ts"
import { directoryArguments, facetsArguments } from "#src/directory/DirectoryQuery.ts"
import { Facets } from "#src/directory/Facets.ts"
import { metadataArguments, ServerMetadata, ServerMetadataReads } from "#src/directory/ServerMetadata.ts"
import { ListedListing, ListingDetail, SetVisible, Visibility } from "#src/listings/Listing.ts"
import { Listings } from "#src/listings/Listings.ts"
import { PageOf } from "#src/shared/paging.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

const common = { toolset: "directory", lowerCaseCodes: true } as const

export const directoryTools = Effect.gen(function*() {
  const directory = yield* Directory
  const listings = yield* Listings
  const metadata = yield* ServerMetadataReads
  return [
    tool({
      ...common,
      name: "directory_search",
      title: "Search the directory",
      description:
        "Finds businesses that agents can talk to: by name (typos are forgiven), category, place, distance " +
        "or trust, each with the URL of its MCP server. Filters combine freely; best first, or nearest first.",
      effect: "read",
      needs: "anybody",
      params: Input(directoryArguments),
      success: PageOf(ListedListing),
      run: (query) => directory.list(query)
    }),
    tool({
      ...common,
      name: "directory_facets",
      title: "List what the directory has",
      description:
        "Counts the categories, kinds and cities of the listings that match: call it to learn which filters of " +
        "directory_search find something. Takes the same filters; none of them is required.",
      effect: "read",
      needs: "anybody",
      params: Input(facetsArguments),
      success: Facets,
      run: directory.facets
    }),
    tool({
      ...common,
      name: "directory_listing",
      title: "Read a listing",
      description:
        "Reads one listing that directory_search found, with the URL of the business's MCP server: hub_listing_skill tells how " +
        "to use it, create_server_token gets in.",
      effect: "read",
      needs: "anybody",
      params: Input({ listingId: Schema.String }),
      success: ListingDetail,
      run: ({ listingId }) => directory.get(listingId)
    }),
    tool({
      ...common,
      name: "server_metadata",
      title: "Describe a business's server",
      description:
        "Tells how to connect to the MCP server at a subdomain, and what is known of the business behind it. Use it when you " +
        "have an address and no listing; create_server_token gets in.",
      effect: "read",
      needs: "anybody",
      params: Input(metadataArguments),
      success: ServerMetadata,
      run: metadata.get
    }),
    tool({
      ...common,
      name: "set_visibility",
      title: "Show or hide a listing",
      description:
        "Shows a business's listing in the public directory (visible: true), or hides it; each undoes the other. Its server " +
        "and catalog stay as they are.",
      effect: "update",
      needs: "session",
      params: Input({ listingId: Schema.String, ...SetVisible.fields }),
      success: Visibility,
      run: ({ listingId, visible }) => listings.setVisible(listingId, { visible })
    })
  ]
})
