import { ReadyConfigs } from "#src/businesses/ReadyConfigs.ts"
import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { Api } from "../Api.ts"
import { data } from "../envelope.ts"

const caching = { "cache-control": "private, max-age=10" }

/** Written as it was made: to encode 5,000 items by their schema would take longer than to make them. */
export const ReadyConfigHandlers = HttpApiBuilder.group(
  Api,
  "readyConfig",
  (handlers) =>
    Effect.map(ReadyConfigs, (configs) =>
      handlers.handleRaw("get", ({ path }) =>
        Effect.map(
          configs.get(path.businessId),
          (config) => HttpServerResponse.unsafeJson(data(config), { headers: caching })
        )))
)
