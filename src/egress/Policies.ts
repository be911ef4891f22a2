import { Machines } from "#src/machines/Machines.ts"
import { FreshCache } from "#src/routing/fresh-cache.ts"
import { listenForChanges } from "#src/shared/changes.ts"
import { Effect, Option, Runtime } from "effect"
import { LRUCache } from "lru-cache"
import { PoliciesRepo } from "./PoliciesRepo.ts"
import { type Policy, policyOf } from "./policy.ts"

/** In ms. A changed server, or plan, is told of at once; this bounds a lost listener. */
const lifetimes = { notified: 30_000, unnotified: 1_000 } as const
/** While the database is away, what was allowed stays allowed. */
const fallback = { timeout: 1_000, lifetime: 5_000 } as const

/** What each machine may reach. A change of its server counts for the next connection. */
export class Policies extends Effect.Service<Policies>()("egress/Policies", {
  scoped: Effect.gen(function*() {
    const repo = yield* PoliciesRepo
    const machines = yield* Machines
    const run = Runtime.runPromise(yield* Effect.runtime())
    let listening = false

    const cache = new FreshCache<Policy>({
      load: (serverId) =>
        run(Effect.timeout(Effect.map(repo.find(serverId), Option.getOrUndefined), "5 seconds"))
          .then((row) => row === undefined ? undefined : policyOf(row)),
      lifetime: () => listening ? lifetimes.notified : lifetimes.unnotified,
      capacity: 10_000,
      absentCapacity: 1_000,
      now: Date.now,
      fallback
    })
    yield* listenForChanges("server_changed", {
      onChange: (payload) => cache.drop(payload.split(" ", 1)[0] ?? ""),
      onConnected: () => {
        cache.expire()
        listening = true
      },
      onLost: () => {
        listening = false
        cache.expire()
      }
    })

    /** A machine is of one server for all its life. */
    const owners = new LRUCache<string, string>({ max: 10_000 })
    const ownerOf = async (machine: string) => {
      const known = owners.get(machine)
      if (known !== undefined) return known
      const state = await run(Effect.orElseSucceed(machines.inspect(machine), () => undefined))
      if (state !== undefined) owners.set(machine, state.owner)
      return state?.owner
    }

    return {
      /** Undefined: the machine is of no server, or nobody can say. */
      of: async (machine: string): Promise<Policy | undefined> => {
        const owner = await ownerOf(machine)
        return owner === undefined ? undefined : cache.get(owner).catch(() => undefined)
      }
    } as const
  })
}) {}
