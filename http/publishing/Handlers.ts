import { Publishing } from "#src/publishing/Publishing.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { Api } from "../Api.ts"
import { data } from "../envelope.ts"

export const PublishingHandlers = HttpApiBuilder.group(
  Api,
  "publishing",
  (handlers) =>
    Effect.map(
      Publishing,
      (publishing) =>
        handlers.handle("publish", ({ payload }) =>
          Effect.flatMap(CallerAddress, (address) =>
            Effect.map(
              publishing.publish(payload, address, () => Effect.void),
              data
            )))
    )
)
