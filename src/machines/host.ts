/**
 * The `Host` that a machine is addressed by: what it is to itself, so that a server which guards against DNS rebinding
 * knows its own name (docs/decisions/machine-host.md).
 */
export const machineHost = (port: number) => `localhost:${port}`
