import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { Quotas } from "#src/accounts/Quotas.ts"
import { BlobStore, StorageUnavailable } from "#src/blobs/BlobStore.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { ListingNotFound } from "#src/listings/Listing.ts"
import { Disk } from "#src/shared/Disk.ts"
import { isUlid, newUlid } from "#src/shared/ids.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option } from "effect"
import { createHash } from "node:crypto"
import {
  type CapabilityDoc,
  DocumentNotFound,
  ListingDelisted,
  type ParsedDocument,
  type SentDocument,
  TooManyUploads
} from "./CapabilityDoc.ts"
import { CapabilityDocsRepo } from "./CapabilityDocsRepo.ts"
import { documentUrl } from "./document-url.ts"
import { NotYourListing } from "./ListingAnalytics.ts"
import { BadListingId } from "./ListingSkills.ts"
import { parseDocument } from "./parse-document.ts"

const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

/** Uploads under way, backups and readers of the document before still use bytes for so long. */
const graceMinutes = 60
const sweepBatch = 200

/** Capability documents: one for each listing, what was read from it, and its bytes (contract: Capability document). */
export class CapabilityDocs extends Effect.Service<CapabilityDocs>()("hub/CapabilityDocs", {
  effect: Effect.gen(function*() {
    const blobs = yield* BlobStore
    const disk = yield* Disk
    const limits = yield* RateLimit
    const quotas = yield* Quotas
    const repo = yield* CapabilityDocsRepo
    const sql = yield* SqlClient.SqlClient
    const { hubRateLimit, hubUrl } = yield* CurrentSettings

    const view = (id: string, { description, format, name, tools }: ParsedDocument & Pick<CapabilityDoc, "format">) =>
      ({
        capabilityDocUrl: documentUrl(hubUrl, id),
        format,
        parsed: { name, description, tools }
      }) satisfies CapabilityDoc

    /** Contract: Hub error codes, 429 by user; without counters 503. */
    const admit = Effect.fn("CapabilityDocs.admit")(function*(accountId: string) {
      const rule = { key: `hub-upload:${accountId}`, limit: hubRateLimit, window: "1 minute" } as const
      const { allowed, retryAfterSeconds } = yield* limits.consume(rule)
      if (!allowed) return yield* new TooManyUploads({ limit: hubRateLimit, retryAfter: retryAfterSeconds })
    })

    /** An active listing of the account's. */
    const own = Effect.fn("CapabilityDocs.own")(function*(id: string, accountId: string) {
      if (!isUlid(id)) return yield* new BadListingId()
      const listing = yield* repo.owned(id)
      if (Option.isNone(listing)) return yield* new ListingNotFound()
      if (listing.value.accountId !== accountId) return yield* new NotYourListing()
      return listing.value.isActive ? listing.value : yield* new ListingDelisted()
    })

    /** Stores bytes at a new key. */
    const store = Effect.fn("CapabilityDocs.store")(function*(accountId: string, bytes: Uint8Array) {
      const key = `capability-docs/${newUlid()}`
      yield* quotas.admit("documentBytes", repo.bytesOf(accountId), bytes.length).pipe(
        Effect.zipRight(repo.addBlob({ key, accountId, bytes: bytes.length })),
        transactionally(sql)
      )
      yield* Effect.onError(blobs.put(key, bytes), () => repo.uncount(key))
      return key
    })

    /**
     * Takes the place of the listing's document. The file is read once the caller is known to own the listing. Its bytes
     * are stored at a new key before the row names it: a crash in between leaves the document before, and bytes for
     * `sweep`.
     */
    const upload = Effect.fn("CapabilityDocs.upload")(
      function*<E, R>(id: string, file: Effect.Effect<SentDocument, E, R>) {
        const { accountId } = yield* CurrentActor
        yield* admit(accountId)
        const listing = yield* own(id, accountId)
        yield* disk.check
        const sent = yield* file
        const { format, parsed } = yield* parseDocument(sent, listing.name)
        const blobKey = yield* store(accountId, sent.bytes)
        yield* repo.put({ listingId: id, blobKey, format, digest: digestOf(sent.bytes), ...parsed })
        return view(id, { format, ...parsed })
      },
      withPolicy(sessionOnly)
    )

    const find = Effect.fn("CapabilityDocs.find")(function*(id: string) {
      if (!isUlid(id)) return yield* new BadListingId()
      const found = yield* repo.find(id)
      return Option.isSome(found) ? found.value : yield* new DocumentNotFound()
    })

    /** Of a listing in the directory, for anybody. */
    const get = Effect.fn("CapabilityDocs.get")((id: string) => Effect.map(find(id), (found) => view(id, found)))

    /** Its bytes, which are fetched only when asked for. */
    const content = Effect.fn("CapabilityDocs.content")(function*(id: string) {
      const { blobKey, digest, format } = yield* find(id)
      const bytes = blobs.get(blobKey).pipe(
        Effect.filterOrElse(
          (stored) => Option.exists(stored, (bytes) => digestOf(bytes) === digest),
          () =>
            Effect.zipRight(
              Effect.logError(`The document of listing ${id} is gone from ${blobKey}, or was changed there`),
              new StorageUnavailable()
            )
        ),
        Effect.map(Option.getOrThrow)
      )
      return { bytes, digest, format }
    })

    /** Removes bytes that no document has named for an hour: of replaced and deleted ones, and of uploads cut off. */
    const sweep = Effect.gen(function*() {
      yield* blobs.tidy
      yield* repo.markOrphans
      for (;;) {
        const keys = yield* repo.orphans(graceMinutes, sweepBatch)
        yield* Effect.forEach(keys, (key) => Effect.zipRight(blobs.remove(key), repo.dropBlob(key)), { discard: true })
        if (keys.length < sweepBatch) return
      }
    }).pipe(Effect.withSpan("CapabilityDocs.sweep"))

    return { upload, get, content, sweep } as const
  })
}) {}
