import { Machines } from "#src/machines/Machines.ts"
import { Effect, Layer } from "effect"
import { Destinations } from "./Destinations.ts"
import { Egress } from "./Egress.ts"
import { Policies } from "./Policies.ts"
import { PoliciesRepo } from "./PoliciesRepo.ts"
import { Refusals } from "./Refusals.ts"
import { Traffic } from "./Traffic.ts"

/** Serves what machines send outside for as long as the platform runs. Needs the services of servers, and machines. */
export const EgressLive = Layer.scopedDiscard(Effect.gen(function*() {
  const { serverOf } = yield* Egress
  yield* (yield* Machines).serveEgress(serverOf)
})).pipe(
  Layer.provide(Egress.Default),
  Layer.provide([Destinations.Default, Refusals.Default, Traffic.Default]),
  Layer.provide(Policies.Default),
  Layer.provide(PoliciesRepo.Default)
)
