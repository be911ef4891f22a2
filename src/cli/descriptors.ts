import { SettingError } from "#src/config/Settings.ts"
import { Effect } from "effect"
import { readFileSync } from "node:fs"

/** As many as each machine may open (src/machines/sandbox/limits.ts): nobody can be given more than we have. */
const needed = 4096

/** How many files this process may open; undefined where the system does not tell. Node has raised it as far as it may. */
const limit = () => {
  try {
    const [, soft = ""] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
    return soft === "unlimited" ? Infinity : Number(soft)
  } catch {
    return undefined
  }
}

/** Fails with what to set where too few files may be open: what fails for want of them would say anything else. */
export const enoughDescriptors = Effect.suspend(() => {
  const allowed = limit()
  return allowed === undefined || allowed >= needed ? Effect.void : new SettingError({
    message: `This process may open ${allowed} files, and at least ${needed} are needed: raise the limit with ` +
      `"ulimit -n 65536", or LimitNOFILE=65536 in its systemd unit`
  })
})
