import { hash, verify } from "@node-rs/argon2"
import { Effect } from "effect"

/** OWASP's profile of argon2id (the library's default variant) with 19 MiB and 2 passes; about 12 ms. */
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Hashes and checks passwords, few at a time: each takes 19 MiB. */
export class Passwords extends Effect.Service<Passwords>()("accounts/Passwords", {
  effect: Effect.gen(function*() {
    const few = (yield* Effect.makeSemaphore(4)).withPermits(1)
    const dummy = yield* Effect.promise(() => hash("nobody has this password", options))

    return {
      hash: (password: string) => few(Effect.promise(() => hash(password, options))),
      /** Checks against a hash that fits nobody when there is none, so that an unknown user costs the same time. */
      verify: (stored: string | undefined, password: string) =>
        few(Effect.promise(() => verify(stored ?? dummy, password))).pipe(
          Effect.map((fits) => fits && stored !== undefined)
        )
    } as const
  })
}) {}
