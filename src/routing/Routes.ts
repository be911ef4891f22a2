import { CurrentSettings } from "#src/config/Settings.ts"
import { machineHost } from "#src/machines/host.ts"
import { MachineStates } from "#src/machines/Machines.ts"
import { publicUrl, resourceUrls } from "#src/servers/addresses.ts"
import { listenForChanges } from "#src/shared/changes.ts"
import { Array, Effect, Option, Runtime } from "effect"
import { FreshCache } from "./fresh-cache.ts"
import { type Route, type RouteRow } from "./Route.ts"
import { RoutesRepo } from "./RoutesRepo.ts"

/** Cache lifetimes in ms. Changes of a server's row, and of its account's plan, arrive at once; these bound others (a dead machine). */
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
    const machines = yield* MachineStates
    const settings = yield* CurrentSettings
    const run = Runtime.runPromise(yield* Effect.runtime())
    let listening = false
    /** By slug. */
    const listeners = new Map<string, Set<() => void>>()

    const machineOf = (slug: string, deploymentId: string) =>
      machines.inspect(deploymentId).pipe(
        Effect.map((state) => state?.status === "running" ? state.address : undefined),
        Effect.catchAll((error) =>
          Effect.as(Effect.logWarning(`The machine of ${slug} can't be inspected: ${error.message}`), undefined)
        )
      )

    const drainingOf = ({ draining, slug }: RouteRow) =>
      Effect.forEach(draining, ({ id, mark, port }) =>
        Effect.map(
          machineOf(slug, id),
          (machine) => machine === undefined ? [] : [{ deploymentId: id, mark, host: machineHost(port), machine }]
        )).pipe(Effect.map(Array.flatten))

    const load = Effect.fn("Routes.load")(function*(slug: string) {
      const row = yield* repo.find(slug)
      if (Option.isNone(row)) return undefined
      const resources = resourceUrls(settings, slug)
      const audiences = [publicUrl(settings, slug)] as const
      const { activeDeploymentId, port } = row.value
      const host = port === null ? "localhost" : machineHost(port)
      const machine = activeDeploymentId === null ? undefined : yield* machineOf(slug, activeDeploymentId)
      const draining = yield* drainingOf(row.value)
      return { ...row.value, resources, audiences, host, machine, draining } satisfies Route
    })

    const lifetime = (route: Route | undefined) => {
      if (!listening) return lifetimes.unnotified
      if (route === undefined) return lifetimes.absent
      return route.machine === undefined || route.asleep ? lifetimes.idle : lifetimes.running
    }
    const cache = new FreshCache<Route>({
      load: (slug) => run(Effect.timeout(load(slug), "10 seconds")),
      lifetime,
      capacity: 20_000,
      absentCapacity: 1_000,
      now: Date.now,
      fallback
    })

    const changed = (slug: string) => {
      cache.drop(slug)
      for (const listener of listeners.get(slug) ?? []) listener()
    }

    yield* listenForChanges("server_changed", {
      onChange: (payload) => changed(payload.slice(payload.indexOf(" ") + 1)),
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
      /** The server was changed by this process, which needs not wait until the database says so. */
      changed,
      /** For a machine that does not answer: the cached route may be wrong. */
      expire: (slug: string) => cache.expire(slug),
      /** Calls the listener at each change of the server that this process hears of, until the answer is called. */
      onChange: (slug: string, listener: () => void) => {
        const all = listeners.get(slug) ?? new Set()
        listeners.set(slug, all.add(listener))
        return () => {
          all.delete(listener)
          if (all.size === 0 && listeners.get(slug) === all) listeners.delete(slug)
        }
      }
    } as const
  })
}) {}
