import { CurrentSettings } from "#src/config/Settings.ts"
import { machineHost } from "#src/machines/host.ts"
import { Machines } from "#src/machines/Machines.ts"
import { publicUrl, resourceUrls } from "#src/servers/addresses.ts"
import { listenForChanges } from "#src/shared/changes.ts"
import { Effect, Option, Runtime } from "effect"
import { FreshCache } from "./fresh-cache.ts"
import { type Route, type RouteRow } from "./Route.ts"
import { RoutesRepo } from "./RoutesRepo.ts"

/** Changes of a server's row are told at once; these bounds are for what no row tells (a plan, a dead machine). */
const lifetimes = { running: 30_000, idle: 1_000, absent: 5_000, deaf: 1_000 } as const

/** A database that is away, or hangs, costs one request a second every so often; the others don't wait for it. */
const fallback = { patience: 1_000, lifetime: 5_000 } as const

/**
 * Finds a server and its machine by slug. Kept in memory, dropped when `server_changed` names the slug, and doubted as
 * a whole when the connection that listens breaks. While the database is away what runs is served as last known.
 */
export class Routes extends Effect.Service<Routes>()("gateway/Routes", {
  scoped: Effect.gen(function*() {
    const repo = yield* RoutesRepo
    const machines = yield* Machines
    const settings = yield* CurrentSettings
    const run = Runtime.runPromise(yield* Effect.runtime())
    let hears = false

    const machineOf = (row: RouteRow) =>
      row.activeDeploymentId === null ? Effect.succeed(undefined) : machines.inspect(row.activeDeploymentId).pipe(
        Effect.map((state) => state?.status === "running" ? state.address : undefined),
        Effect.catchAll((error) =>
          Effect.as(Effect.logWarning(`The machine of ${row.slug} can't be inspected: ${error.message}`), undefined)
        )
      )

    const load = Effect.fn("Routes.load")(function*(slug: string) {
      const found = yield* repo.find(slug)
      if (Option.isNone(found)) return undefined
      const resources = resourceUrls(settings, slug)
      const audiences = [publicUrl(settings, slug)] as const
      const { port } = found.value
      const host = port === null ? "localhost" : machineHost(port)
      return { ...found.value, resources, audiences, host, machine: yield* machineOf(found.value) } satisfies Route
    })

    const lifetime = (route: Route | undefined) => {
      if (!hears) return lifetimes.deaf
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
        cache.doubt()
        hears = true
      },
      onLost: () => {
        if (!hears) return
        hears = false
        cache.doubt()
      }
    })

    return {
      /** The route when it is in memory, else undefined: ask `find`. */
      peek: (slug: string) => cache.peek(slug),
      /** Undefined: nobody has the slug. Rejects when the database can't be asked. */
      find: (slug: string) => cache.get(slug),
      /** What is known of the slug may be wrong: its machine does not answer. */
      doubt: (slug: string) => cache.doubt(slug)
    } as const
  })
}) {}
