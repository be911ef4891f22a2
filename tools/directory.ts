import { SetVisible, Visibility } from "#src/directory/Listing.ts"
import { Listings } from "#src/directory/Listings.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

export const directoryTools = Effect.map(Listings, (listings) => [
  tool({
    name: "set_visibility",
    title: "Show or hide a listing",
    description: "Shows a business's listing in the public directory (visible: true), or hides it.",
    toolset: "directory",
    needs: "session",
    lowerCaseCodes: true,
    effect: "update",
    params: Input({ listingId: Schema.String, ...SetVisible.fields }),
    success: Visibility,
    run: ({ listingId, visible }) => listings.setVisible(listingId, { visible })
  })
])
