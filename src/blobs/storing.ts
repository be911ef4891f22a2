import { isDiskFull } from "#src/shared/disk-full.ts"
import { Effect } from "effect"
import { StorageUnavailable } from "./BlobStore.ts"

/**
 * An operation of a store. Callers learn that it failed, the log why: in a sentence where there is one for the error. A
 * full disk is told as it is everywhere.
 */
export const storing = <A>(
  what: string,
  operation: (signal: AbortSignal) => Promise<A>,
  explain: (error: unknown) => string | undefined = () => undefined
) =>
  Effect.tryPromise(operation).pipe(
    Effect.tapError(({ error }) => {
      const sentence = explain(error)
      return sentence === undefined
        ? Effect.logError(`Stored documents: can't ${what}`, error)
        : Effect.logError(`Stored documents: can't ${what}: ${sentence}`)
    }),
    Effect.catchAll(({ error }) => isDiskFull(error) ? Effect.die(error) : new StorageUnavailable()),
    Effect.withSpan("BlobStore", { attributes: { operation: what } })
  )
