import { Listings } from "#src/directory/Listings.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { Api } from "../Api.ts"
import { data } from "../envelope.ts"

export const DirectoryHandlers = HttpApiBuilder.group(
  Api,
  "directory",
  (handlers) =>
    Effect.map(
      Listings,
      (listings) =>
        handlers.handle("setVisible", ({ path, payload }) =>
          Effect.map(listings.setVisible(path.listingId, payload), data))
    )
)
