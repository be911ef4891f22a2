import { wantedChannel } from "#src/routing/wanted-channel.ts"
import { listenForChanges } from "#src/shared/changes.ts"
import { Effect, Runtime } from "effect"

/** Until the scope closes, hears of the servers that gateways ask for: they sleep, or their machine is not reached. */
export const listenForWanted = (onWanted: (serverId: string) => Effect.Effect<void>) =>
  Effect.flatMap(Effect.runtime(), (runtime) =>
    listenForChanges(wantedChannel, {
      onChange: (serverId) => void Runtime.runFork(runtime)(onWanted(serverId)),
      onConnected: () => undefined,
      onLost: () => undefined
    }))
