import { Secrets } from "#src/shared/Secrets.ts"
import { Effect } from "effect"
import { LRUCache } from "lru-cache"
import { valueContext } from "./Environment.ts"
import { EnvironmentRepo } from "./EnvironmentRepo.ts"
import { readyConfigName, reservedNames } from "./EnvironmentVariable.ts"
import { makeMask, type Mask } from "./mask.ts"

/** Of servers that write now. */
const capacity = 200

/** Not secret, and long enough to hide half of a log; or ignored, so that no machine has them. */
const isShown = (name: string) => name === readyConfigName || reservedNames.has(name)

/** What a server's log must not show: values of its variables, and what they were (docs/decisions/masked-logs.md). */
export class Masks extends Effect.Service<Masks>()("servers/Masks", {
  effect: Effect.gen(function*() {
    const repo = yield* EnvironmentRepo
    const secrets = yield* Secrets
    const known = new LRUCache<string, { readonly state: string; readonly mask: Mask }>({ max: capacity })

    const read = Effect.fnUntraced(function*(serverId: string) {
      const rows = (yield* repo.everSealed(serverId)).filter(({ name }) => !isShown(name))
      const hidden = yield* Effect.forEach(
        rows,
        ({ name, sealedValue }) =>
          secrets.open(sealedValue, valueContext(serverId, name)).pipe(
            Effect.map((value) => [{ name, value }]),
            // A machine can't have got it either.
            Effect.catchTag(
              "SecretError",
              ({ message }) => Effect.as(Effect.logWarning(`A value of ${serverId} can't be masked: ${message}`), [])
            )
          )
      )
      return makeMask(hidden.flat())
    })

    return {
      /** Asks whether something has changed since, so that a new value is masked from its first line on. */
      of: Effect.fn("Masks.of")(function*(serverId: string) {
        const state = yield* repo.state(serverId)
        const last = known.get(serverId)
        if (last?.state === state) return last.mask
        const mask = yield* read(serverId)
        known.set(serverId, { state, mask })
        return mask
      })
    } as const
  })
}) {}
