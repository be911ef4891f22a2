import { keyedMutex } from "#src/shared/keyed-mutex.ts"
import { Effect } from "effect"

/** One at a time per server: starting, stopping and restarting its machine. For this process's machines only. */
export class ServerLocks extends Effect.Service<ServerLocks>()("deployments/ServerLocks", {
  sync: () => ({ withLock: keyedMutex() } as const)
}) {}
