import { failsWith } from "#src/shared/Failure.ts"
import { Context, type Effect, type Option, Schema } from "effect"

/** The store can't be read or written; its log line has the cause. */
export class StorageUnavailable
  extends Schema.TaggedError<StorageUnavailable>()("StorageUnavailable", {}, failsWith(503))
{
  readonly retryAfter = 30
  override get message() {
    return "Stored documents can't be reached; try again shortly"
  }
}

type Stored<A> = Effect.Effect<A, StorageUnavailable>

/**
 * Files beside the database, each up to a few megabytes, written whole or not at all. A key is `folder/name` and is
 * written once: new content gets a new key.
 */
export class BlobStore extends Context.Tag("blobs/BlobStore")<BlobStore, {
  readonly put: (key: string, bytes: Uint8Array) => Stored<void>
  /** None when nothing is stored there. */
  readonly get: (key: string) => Stored<Option.Option<Uint8Array>>
  /** Removing what is not there is not an error. */
  readonly remove: (key: string) => Stored<void>
  readonly list: Stored<ReadonlyArray<string>>
  /** Removes what writes that a crash cut off left behind. */
  readonly tidy: Stored<void>
  /** Fails when the store is set up so that it can't be used; the log says what to change. */
  readonly check: Stored<void>
}>() {}

const keyPattern = /^[a-z0-9-]{1,40}\/[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/

/** Whether a text is a key; no key leads out of its folder. */
export const isBlobKey = (text: string) => keyPattern.test(text)
