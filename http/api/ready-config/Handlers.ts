import { data } from "#http/answers/envelope.ts"
import { alone } from "#http/answers/group.ts"
import { requireActor } from "#http/callers/Authentication.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { ReadyConfigs } from "#src/businesses/ReadyConfigs.ts"
import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { ReadyConfigApi } from "./Api.ts"

/** What is shown depends on the credential. */
const caching = { "cache-control": "private, max-age=10", vary: "Authorization, Cookie" }

/** Written as it was made: to encode 5,000 items by their schema would take longer than to make them. */
const answer = (configs: ReadyConfigs, businessId: string) =>
  Effect.map(
    configs.get(businessId),
    (config) => HttpServerResponse.unsafeJson(data(config), { headers: caching })
  )

export const ReadyConfigHandlers = HttpApiBuilder.group(
  alone(ReadyConfigApi),
  "readyConfig",
  (handlers) =>
    Effect.map(ReadyConfigs, (configs) => handlers.handleRaw("get", ({ path }) => answer(configs, path.businessId)))
)

/** No path of a router has a parameter that is empty, and the contract has an answer for it. */
export const NamelessConfigRoute = rawRoutes((add) =>
  Effect.flatMap(ReadyConfigs, (configs) =>
    add(
      "GET",
      "/api/v1/ready/businesses//config",
      {},
      Effect.provideServiceEffect(answer(configs, ""), CurrentActor, requireActor)
    ))
)
