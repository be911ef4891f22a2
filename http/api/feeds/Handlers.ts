import { apiOf } from "#http/answers/group.ts"
import { BusinessFeed } from "#src/syndication/BusinessFeed.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { FeedsApi } from "./Api.ts"

export const FeedsHandlers = HttpApiBuilder.group(
  apiOf(FeedsApi),
  "feeds",
  (handlers) =>
    Effect.map(BusinessFeed, (feed) => handlers.handle("businesses", ({ urlParams }) => feed.read(urlParams)))
)
