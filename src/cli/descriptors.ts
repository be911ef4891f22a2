import { SettingError } from "#src/config/Settings.ts"
import { descriptorLimit } from "#src/shared/descriptors.ts"
import { Effect } from "effect"

/** As many as a machine may open (src/machines/sandbox/limits.ts): a process can't give a child a higher limit. */
const needed = 4096

/** Fails early with what to set: later errors from too few descriptors don't name the cause. */
export const enoughDescriptors = Effect.suspend(() => {
  const allowed = descriptorLimit()
  return allowed === undefined || allowed >= needed ? Effect.void : new SettingError({
    message: `This process may open ${allowed} files, and at least ${needed} are needed: raise the limit with ` +
      `"ulimit -n 65536", or LimitNOFILE=65536 in its systemd unit`
  })
})
