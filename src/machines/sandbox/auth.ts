import { type Settings } from "#src/config/Settings.ts"
import type { Machines } from "#src/machines/Machines.ts"
import { Effect, type Scope } from "effect"
import { authProxy } from "./auth-proxy.ts"
import { tlsServers } from "./auth-tls.ts"
import { type AuthWay, insideAddress } from "./auth-way.ts"
import type { AuthReach } from "./guarantees.ts"
import { machineSockets } from "./machine-sockets.ts"
import { authSocketPath, type MachinePaths } from "./paths.ts"

interface Auth {
  /** Undefined: machines reach nothing outside. */
  readonly way: AuthWay | undefined
  readonly reach: Effect.Effect<AuthReach>
  readonly serve: typeof Machines.Service["serveAuth"]
}

/** The route from machines to `AUTH_URL` (docs/decisions/what-a-machine-reaches.md). */
export const openAuth = ({ authUrl }: Settings, paths: MachinePaths): Effect.Effect<Auth, never, Scope.Scope> =>
  Effect.gen(function*() {
    const inside = insideAddress(authUrl)
    if (inside === undefined) {
      yield* Effect.logWarning("Machines can't reach AUTH_URL: it is an IP address, not a name")
      return { way: undefined, reach: Effect.succeed("none"), serve: () => Effect.void }
    }
    const way = {
      ...inside,
      ...machineSockets("way to AUTH_URL", paths, authSocketPath)
    }
    if (authUrl.startsWith("http:")) return { way, reach: Effect.succeed("own"), serve: way.serve }
    const proxy = authProxy(authUrl)
    yield* way.serve(tlsServers(proxy))
    const reach = Effect.timeoutTo(Effect.promise(proxy.reach), {
      duration: "3 seconds",
      onTimeout: (): AuthReach => ({ all: "what it would pass can't be found out in time" }),
      onSuccess: (result) => result
    })
    return { way, reach: yield* Effect.cachedWithTTL(reach, "1 minute"), serve: () => Effect.void }
  })
