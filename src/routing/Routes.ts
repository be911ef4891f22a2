import { CurrentSettings } from "#src/config/Settings.ts"
import { machineHost } from "#src/machines/host.ts"
import { Machines } from "#src/machines/Machines.ts"
import { publicUrl, resourceUrls } from "#src/servers/addresses.ts"
import { listenForChanges } from "#src/shared/changes.ts"
import { Effect, Option, Runtime } from "effect"
import { FreshCache } from "./fresh-cache.ts"
import { type Route, type RouteRow } from "./Route.ts"
import { RoutesRepo } from "./RoutesRepo.ts"

/** Cache lifetimes in ms. Changes of a server's row arrive at once; these bound others (a plan, a dead machine). */
const lifetimes = { running: 30_000, idle: 1_000, absent: 5_000, unnotified: 1_000 } as const

/** While the database is down or hangs, one request in five seconds waits for it, for a second; the others don't. */
const fallback = { timeout: 1_000, lifetime: 5_000 } as const

/**
 * Finds a server and its machine by slug. Cached in memory, evicted when `server_changed` names the slug, and expired
 * as a whole when the listening connection breaks. While the database is down, running servers are served from the
 * cache.
 */
export class Routes extends Effect.Service<Routes>()("gateway/Routes", {
  scoped: Effect.gen(function*() {
    const repo = yield* RoutesRepo
    const machines = yield* Machines
    const settings = yield* CurrentSettings
    const run = Runtime.runPromise(yield* Effect.runtime())
    let listening = false

    const machineOf = (row: RouteRow) =>
      row.activeDeploymentId === null ? Effect.succeed(undefined) : machines.inspect(row.activeDeploymentId).pipe(
        Effect.map((state) => state?.status === "running" ? state.address : undefined),
        Effect.catchAll((error) =>
          Effect.as(Effect.logWarning(`The machine of ${row.slug} can't be inspected: ${error.message}`), undefined)
        )
      )

    const load = Effect.fn("Routes.load")(function*(slug: string) {
      const row = yield* repo.find(slug)
      if (Option.isNone(row)) return undefined
      const resources = resourceUrls(settings, slug)
      const audiences = [publicUrl(settings, slug)] as const
      const { port } = row.value
      const host = port === null ? "localhost" : machineHost(port)
      return { ...row.value, resources, audiences, host, machine: yield* machineOf(row.value) } satisfies Route
    })

    const lifetime = (route: Route | undefined) => {
      if (!listening) return lifetimes.unnotified
      return route === undefined ? lifetimes.absent : route.machine === undefined ? lifetimes.idle : lifetimes.running
    }
    const cache = new FreshCache<Route>({
      load: (slug) => run(Effect.timeout(load(slug), "10 seconds")),
      lifetime,
      capacity: 20_000,
      absentCapacity: 1_000,
      now: Date.now,
      fallback
    })

    yield* listenForChanges("server_changed", {
      onChange: (payload) => cache.drop(payload.slice(payload.indexOf(" ") + 1)),
      onConnected: () => {
        cache.expire()
        listening = true
      },
      onLost: () => {
        if (!listening) return
        listening = false
        cache.expire()
      }
    })

    return {
      /** The cached route, else undefined: then use `find`. */
      peek: (slug: string) => cache.peek(slug),
      /** Undefined: no server has the slug. Rejects when the database fails. */
      find: (slug: string) => cache.get(slug),
      /** For a machine that does not answer: the cached route may be wrong. */
      expire: (slug: string) => cache.expire(slug)
    } as const
  })
}) {}
