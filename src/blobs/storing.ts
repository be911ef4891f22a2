import { Effect } from "effect"
import { StorageUnavailable } from "./BlobStore.ts"

/** An operation of a store. Callers learn that it failed, the log why. */
export const storing = <A>(what: string, operation: (signal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise(operation).pipe(
    Effect.tapError(({ error }) => Effect.logError(`Stored documents: can't ${what}`, error)),
    Effect.mapError(() => new StorageUnavailable()),
    Effect.withSpan("BlobStore", { attributes: { operation: what } })
  )
