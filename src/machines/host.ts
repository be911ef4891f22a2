import { type MachineAddress } from "./Machines.ts"

/**
 * The `Host` header of requests to a machine: its own local name, so that a server that guards against DNS rebinding
 * accepts them (docs/decisions/machine-host.md).
 */
export const machineHost = (port: number) => `localhost:${port}`

/** Connection options for `node:http`. */
export const connectTo = (machine: MachineAddress) =>
  machine._tag === "Unix" ? { socketPath: machine.path } : { host: machine.host, port: machine.port }
