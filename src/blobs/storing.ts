import { isDiskFull } from "#src/shared/disk-full.ts"
import { Effect } from "effect"
import { StorageUnavailable } from "./BlobStore.ts"

/** An operation of a store. Callers learn that it failed, the log why; a full disk is told as it is everywhere. */
export const storing = <A>(what: string, operation: (signal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise(operation).pipe(
    Effect.tapError(({ error }) => Effect.logError(`Stored documents: can't ${what}`, error)),
    Effect.catchAll(({ error }) => isDiskFull(error) ? Effect.die(error) : new StorageUnavailable()),
    Effect.withSpan("BlobStore", { attributes: { operation: what } })
  )
