import { CurrentSettings, type SettingError } from "#src/config/Settings.ts"
import { MachineError, Machines } from "#src/machines/Machines.ts"
import { keyedMutex } from "#src/shared/keyed-mutex.ts"
import { Effect, Layer } from "effect"
import { openAuth } from "./auth.ts"
import { removeEmptyParent, sweepGroups } from "./cgroups.ts"
import { chooseHost } from "./choose.ts"
import { makeConnectionCount } from "./connections.ts"
import { describe } from "./guarantees.ts"
import * as lifecycle from "./lifecycle.ts"
import { machineSockets } from "./machine-sockets.ts"
import { egressSocketPath, socketPath } from "./paths.ts"
import { recordNames } from "./store.ts"
import { goodName } from "./validate.ts"

const checkName = (operation: string, name: string) =>
  goodName(name) ? Effect.void : new MachineError({ operation, machine: name, message: "no machine has such a name" })

const make = Effect.gen(function*() {
  const settings = yield* CurrentSettings
  const chosen = yield* chooseHost(settings.home, settings.sandboxTier, settings.production)
  const auth = yield* openAuth(settings, chosen.paths)
  const egress = machineSockets("way out", chosen.paths, egressSocketPath)
  const host = { ...chosen, auth: auth.way, egress }
  const locked = keyedMutex()
  const { paths } = host
  const openConnections = yield* makeConnectionCount(paths)
  if (host.cgroups !== undefined) {
    yield* Effect.addFinalizer(() => Effect.sync(() => removeEmptyParent(paths.cgroup)))
    yield* Effect.forkScoped(Effect.ignoreLogged(Effect.tryPromise(sweepGroups)))
  }
  return Machines.of({
    driver: { name: "sandbox", tier: host.tier.name },
    guarantees: Effect.map(auth.reach, (reach) => describe({ ...host, auth: reach })),
    serveAuth: auth.serve,
    serveEgress: egress.serve,
    provision: Effect.fn("Sandbox.provision")((spec) =>
      locked(spec.name)(Effect.uninterruptible(lifecycle.provision(host, spec)))
    ),
    start: Effect.fn("Sandbox.start")((name) =>
      Effect.zipRight(checkName("start", name), locked(name)(Effect.uninterruptible(lifecycle.start(host, name))))
    ),
    stop: Effect.fn("Sandbox.stop")((name, graceSeconds = 10) =>
      goodName(name)
        ? Effect.zipRight(
          graceSeconds > 0 ? Effect.void : lifecycle.killNow(host, name),
          locked(name)(lifecycle.stop(host, name, graceSeconds))
        )
        : Effect.void
    ),
    destroy: Effect.fn("Sandbox.destroy")((name) =>
      goodName(name)
        ? Effect.zipRight(
          lifecycle.killNow(host, name),
          locked(name)(Effect.uninterruptible(lifecycle.destroy(host, name)))
        )
        : Effect.void
    ),
    inspect: Effect.fn("Sandbox.inspect")((name) =>
      Effect.sync(() => goodName(name) ? lifecycle.stateOf(paths, name) : undefined)
    ),
    listening: Effect.fn("Sandbox.listening")((name) =>
      Effect.sync(() => goodName(name) ? lifecycle.listening(host, name) : [])
    ),
    list: Effect.fn("Sandbox.list")((owner) =>
      Effect.sync(() =>
        recordNames(paths).flatMap((name) => lifecycle.stateOf(paths, name) ?? [])
          .filter((state) => owner === undefined || state.owner === owner)
      )
    ),
    runs: Effect.fn("Sandbox.runs")((name) =>
      Effect.sync(() =>
        (name === undefined ? recordNames(paths) : [name]).filter(goodName)
          .flatMap((each) => lifecycle.runOf(paths, each) ?? [])
      )
    ),
    connections: Effect.fn("Sandbox.connections")((name) =>
      goodName(name) ? openConnections(socketPath(paths, name)) : Effect.succeed(0)
    ),
    output: (name, offset) => lifecycle.output(host, name, offset)
  })
})

/** Linux namespaces and nothing to install; the tier is `SANDBOX_TIER`, or the strongest one that works here. */
export const SandboxLive: Layer.Layer<Machines, SettingError, CurrentSettings> = Layer.scoped(Machines, make)
