import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { Directory } from "#src/directory/Directory.ts"
import { ServerMetadataReads } from "#src/directory/ServerMetadata.ts"
import { Listings } from "#src/listings/Listings.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { DirectoryApi } from "./Api.ts"

export const DirectoryHandlers = HttpApiBuilder.group(
  apiOf(DirectoryApi),
  "directory",
  (handlers) =>
    Effect.gen(function*() {
      const directory = yield* Directory
      const listings = yield* Listings
      const metadata = yield* ServerMetadataReads

      return handlers
        .handle("list", ({ request, urlParams }) => directory.list(urlParams, request.method !== "HEAD"))
        .handle("facets", ({ urlParams }) => Effect.map(directory.facets(urlParams), data))
        .handle(
          "get",
          ({ path, request }) => Effect.map(directory.get(path.listingId, request.method !== "HEAD"), data)
        )
        .handle("serverMetadata", ({ urlParams }) => metadata.get(urlParams))
        .handle("setVisible", ({ path, payload }) => Effect.map(listings.setVisible(path.listingId, payload), data))
    })
)
