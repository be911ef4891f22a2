import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { Publishing } from "#src/publishing/Publishing.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { PublishingApi } from "./Api.ts"

export const PublishingHandlers = HttpApiBuilder.group(
  apiOf(PublishingApi),
  "publishing",
  (handlers) =>
    Effect.map(
      Publishing,
      (publishing) =>
        handlers.handle("publish", ({ payload }) =>
          Effect.map(
            publishing.request(payload, () => Effect.void),
            (result) => "dryRun" in result ? data(result) : data(result)
          ))
    )
)
