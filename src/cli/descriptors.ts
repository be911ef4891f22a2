import { SettingError } from "#src/config/Settings.ts"
import { Effect } from "effect"
import { readFileSync } from "node:fs"

/** As many as a machine may open (src/machines/sandbox/limits.ts): a process can't give a child a higher limit. */
const needed = 4096

/** The limit on open files of this process; undefined without /proc. Node has already raised it to the hard limit. */
const limit = () => {
  try {
    const [, soft = ""] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
    return soft === "unlimited" ? Infinity : Number(soft)
  } catch {
    return undefined
  }
}

/** Fails early with what to set: later errors from too few descriptors don't name the cause. */
export const enoughDescriptors = Effect.suspend(() => {
  const allowed = limit()
  return allowed === undefined || allowed >= needed ? Effect.void : new SettingError({
    message: `This process may open ${allowed} files, and at least ${needed} are needed: raise the limit with ` +
      `"ulimit -n 65536", or LimitNOFILE=65536 in its systemd unit`
  })
})
