import { bySessionOrHubKey, withPolicy } from "#src/accounts/Policy.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { resourceNamer } from "#src/oauth/checks/resource.ts"
import { type ExchangeRequest, NoSuchResource, TokenExchange } from "#src/oauth/TokenExchange.ts"
import { Effect } from "effect"
import { Composites } from "./Composites.ts"

/** Token exchange for whatever an agent can call by a URL: a hosted server, or a composite that its account may read. */
export class ResourceTokens extends Effect.Service<ResourceTokens>()("composites/ResourceTokens", {
  effect: Effect.gen(function*() {
    const exchanges = yield* TokenExchange
    const composites = yield* Composites
    const nameResource = resourceNamer(yield* CurrentSettings)

    const exchange = Effect.fn("ResourceTokens.exchange")(function*(request: ExchangeRequest) {
      const named = nameResource(request.resource)
      if (named?.kind !== "composite") return yield* exchanges.exchange(request)
      yield* Effect.mapError(composites.checkReadable(named.id), () => new NoSuchResource({ kind: "composite" }))
      return yield* exchanges.forComposite({ ...request, resource: named.resource })
    }, withPolicy(bySessionOrHubKey))

    return { exchange } as const
  })
}) {}
