import { Directory } from "#src/directory/Directory.ts"
import { Listings } from "#src/directory/Listings.ts"
import { ServerMetadataReads } from "#src/directory/ServerMetadata.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { Api } from "../Api.ts"
import { data } from "../envelope.ts"

export const DirectoryHandlers = HttpApiBuilder.group(Api, "directory", (handlers) =>
  Effect.gen(function*() {
    const directory = yield* Directory
    const listings = yield* Listings
    const metadata = yield* ServerMetadataReads

    return handlers
      .handle("list", ({ urlParams }) => directory.list(urlParams))
      .handle("get", ({ path }) => Effect.map(directory.get(path.listingId), data))
      .handle("serverMetadata", ({ urlParams }) => metadata.get(urlParams))
      .handle("setVisible", ({ path, payload }) => Effect.map(listings.setVisible(path.listingId, payload), data))
  }))
