import { type MachineAddress } from "./Machines.ts"

/**
 * The `Host` that a machine is addressed by: what it is to itself, so that a server which guards against DNS rebinding
 * knows its own name (docs/decisions/machine-host.md).
 */
export const machineHost = (port: number) => `localhost:${port}`

/** Where a machine is reached, as `node:http` is told. */
export const connectTo = (machine: MachineAddress) =>
  machine._tag === "Unix" ? { socketPath: machine.path } : { host: machine.host, port: machine.port }
