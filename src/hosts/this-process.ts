import { alive, identify } from "#src/shared/processes.ts"
import { readlinkSync } from "node:fs"
import { hostname } from "node:os"
import { type Host, type ProcessIdentity } from "./Host.ts"

const pidNamespace = () => {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return ""
  }
}

export const thisProcess = (): ProcessIdentity => {
  const { boot = "", start = "" } = identify(process.pid) ?? {}
  return { hostName: hostname(), pid: process.pid, processStart: start, bootId: boot, pidNamespace: pidNamespace() }
}

/**
 * Whether a process of the same home has certainly ended. That can be known only within the same boot and PID
 * namespace, so the answer is false for a home on a shared disk or in another container.
 */
export const isProvablyGone = (host: Host, ownId: string, own: ProcessIdentity) =>
  host.id === ownId && own.bootId !== "" && host.bootId === own.bootId && host.pidNamespace === own.pidNamespace &&
  !alive({ pid: host.pid, start: host.processStart, boot: host.bootId })
