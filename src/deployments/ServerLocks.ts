import { keyedMutex } from "#src/shared/keyed-mutex.ts"
import { Effect } from "effect"

/** Serialises start, stop and restart of a server's machine, within this process. */
export class ServerLocks extends Effect.Service<ServerLocks>()("deployments/ServerLocks", {
  sync: () => {
    const withLock = keyedMutex()
    return { withLock, isHeld: withLock.isHeld } as const
  }
}) {}
