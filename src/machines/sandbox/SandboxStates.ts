import { CurrentSettings } from "#src/config/Settings.ts"
import { MachineStates } from "#src/machines/Machines.ts"
import { Effect, Layer } from "effect"
import { stateOf } from "./lifecycle.ts"
import { openMachinePaths } from "./paths.ts"
import { goodName } from "./validate.ts"

/** The machines of a home whose sandbox another process runs (docs/decisions/gateway-processes.md). */
export const SandboxStatesLive = Layer.effect(
  MachineStates,
  Effect.map(CurrentSettings, ({ home }) => {
    const paths = openMachinePaths(home)
    return MachineStates.of({
      inspect: (name) => Effect.sync(() => goodName(name) ? stateOf(paths, name) : undefined)
    })
  })
)
