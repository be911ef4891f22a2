import { Context } from "effect"
import { readFileSync } from "node:fs"
import { readdir } from "node:fs/promises"

/**
 * How many files and sockets this process may have open (proc_pid_limits(5)); undefined without /proc. Node has already
 * raised it to the hard limit.
 */
export const descriptorLimit = () => {
  try {
    const [, soft = ""] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
    return soft === "unlimited" ? Infinity : Number(soft)
  } catch {
    return undefined
  }
}

/** The same, for what is let in by it; a test has its own. */
export class DescriptorLimit extends Context.Reference<DescriptorLimit>()("shared/DescriptorLimit", {
  defaultValue: () => descriptorLimit() ?? Infinity
}) {}

/** How many it has open (proc_pid_fd(5)). Of ten thousands it takes a tenth of a second, nearly all in another thread. */
export const openDescriptors = async () => (await readdir("/proc/self/fd")).length
