import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { requireActor } from "#http/callers/Authentication.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { ReadyConfigs } from "#src/businesses/ReadyConfigs.ts"
import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { ReadyConfigApi } from "./Api.ts"

/** The response depends on the credential. */
const caching = { "cache-control": "private, max-age=10", vary: "Authorization, Cookie" }

/** Not encoded by a schema: for 5,000 items that would take longer than building them. */
const answer = (configs: ReadyConfigs, businessId: string) =>
  Effect.map(
    configs.get(businessId),
    (config) => HttpServerResponse.unsafeJson(data(config), { headers: caching })
  )

export const ReadyConfigHandlers = HttpApiBuilder.group(
  apiOf(ReadyConfigApi),
  "readyConfig",
  (handlers) =>
    Effect.map(ReadyConfigs, (configs) => handlers.handleRaw("get", ({ path }) => answer(configs, path.businessId)))
)

/** The contract defines a response for an empty id, which router parameters can't match. */
export const NamelessConfigRoute = rawRoutes((add) =>
  Effect.flatMap(ReadyConfigs, (configs) =>
    add(
      "GET",
      "/api/v1/ready/businesses//config",
      {},
      Effect.provideServiceEffect(answer(configs, ""), CurrentActor, requireActor)
    ))
)
