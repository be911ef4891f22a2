import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { seesProject } from "#src/accounts/Policy.ts"
import { Quotas } from "#src/accounts/Quotas.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { HeldBlobs } from "#src/images/HeldBlobs.ts"
import { ImageCleanup } from "#src/images/ImageCleanup.ts"
import { Images } from "#src/images/Images.ts"
import { makeStore } from "#src/images/Store.ts"
import { orDiskFull } from "#src/shared/disk-full.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option } from "effect"
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { makeWay } from "./make-way.ts"
import { checkDigest } from "./names.ts"
import { type Place } from "./places.ts"
import { makeReceive, type Piece } from "./receive.ts"
import { refused } from "./Refusal.ts"
import { makeTurns } from "./turns.ts"
import { UploadFiles } from "./UploadFiles.ts"
import { UploadQuota } from "./UploadQuota.ts"
import { UploadsRepo } from "./UploadsRepo.ts"

/** Uploads of a project at the same time; clients send a handful. */
const mostAtOnce = 100
const tooMany =
  `The project has ${mostAtOnce} uploads that have not ended: end or cancel some. One that nobody goes on ` +
  "with for 15 minutes makes way"

/** Blobs of projects: pushed in pieces, verified, stored once, and owned by whoever sent their bytes. */
export class Uploads extends Effect.Service<Uploads>()("uploads/Uploads", {
  effect: Effect.gen(function*() {
    const { home } = yield* CurrentSettings
    const repo = yield* UploadsRepo
    const files = yield* UploadFiles
    const quota = yield* UploadQuota
    const quotas = yield* Quotas
    const held = yield* HeldBlobs
    const images = yield* Images
    const cleanup = yield* ImageCleanup
    const sql = yield* SqlClient.SqlClient
    const store = makeStore(join(home, "images"))
    const turns = makeTurns()
    const way = yield* makeWay(turns)
    const receive = yield* makeReceive(way)

    /** A blob of the project, which the store has. */
    const find = Effect.fn("Uploads.find")(function*({ projectId }: Place, digest: string) {
      yield* checkDigest(digest)
      const size = yield* repo.blob(projectId, digest)
      if (Option.isNone(size) || !(yield* store.has({ digest, size: size.value }))) {
        return yield* refused("BLOB_UNKNOWN", `The project has no blob ${digest}`)
      }
      return { digest, size: size.value, path: store.path(digest) }
    })

    /** The same for who is about to name it in a manifest: it stays for that. */
    const look = Effect.fn("Uploads.look")(function*(place: Place, digest: string) {
      const found = yield* find(place, digest)
      yield* repo.asked(place.projectId, digest)
      return found
    })

    const begin = Effect.fn("Uploads.begin")(function*({ name, projectId }: Place) {
      const { accountId } = yield* CurrentActor
      yield* receive.check
      const hasPlace = Effect.flatMap(
        repo.unfinishedOf(projectId),
        (count) => count < mostAtOnce ? Effect.void : refused("TOOMANYREQUESTS", tooMany)
      )
      yield* way.orWithout(accountId, () => true, (other) => other.projectId === projectId)(hasPlace)
      const id = randomUUID()
      yield* repo.begin({ id, projectId, repository: name })
      return id
    })

    const unfinished = Effect.fn("Uploads.unfinished")(function*({ name, projectId }: Place, id: string) {
      const known = /^[0-9a-f-]{36}$/.test(id) ? yield* repo.unfinished(id, projectId, name) : Option.none()
      if (Option.isNone(known)) return yield* refused("BLOB_UPLOAD_UNKNOWN", "There is no such upload, or it has ended")
    })

    /** How many bytes have arrived. */
    const arrived = Effect.fn("Uploads.arrived")(function*(place: Place, id: string) {
      yield* unfinished(place, id)
      return yield* Effect.promise(() => files.size(id))
    })

    const append = Effect.fn("Uploads.append")(function*(place: Place, id: string, piece: Piece) {
      yield* unfinished(place, id)
      return yield* turns.take(id, piece.bytes)(receive.append(id, piece))
    })

    /** The bytes become a blob of the project, and of the store if that lacks it. */
    const adopt = Effect.fnUntraced(function*(actor: Actor, { projectId }: Place, id: string, digest: string) {
      yield* images.pin([digest])
      yield* Effect.mapError(store.prepare, ({ message }) => refused("DISK_FULL", orDiskFull(message)))
      const size = yield* Effect.promise(() => files.size(id))
      const isShared = yield* repo.hasAnywhere(actor.accountId, digest)
      const write = Effect.gen(function*() {
        if ((yield* store.size(digest)) !== size) yield* receive.storing(() => files.finish(id, store.path(digest)))
        yield* repo.putBlob(projectId, digest, size)
        yield* held.received(actor.accountId, digest)
        yield* repo.end(id)
      })
      yield* quota.admit(actor, isShared ? 0 : size, id, write).pipe(
        way.orWithout(actor.accountId, ({ code }) => code === "DENIED", (other) => other.id !== id)
      )
      yield* Effect.promise(() => files.remove(id))
    }, Effect.scoped)

    /** Ends an upload, with its last piece if there is one. */
    const finish = Effect.fn("Uploads.finish")(function*(place: Place, id: string, digest: string, piece?: Piece) {
      const actor = yield* CurrentActor
      yield* unfinished(place, id)
      yield* checkDigest(digest)
      const work = Effect.gen(function*() {
        if (piece !== undefined) yield* receive.append(id, piece)
        const actual = yield* receive.storing(() => files.digest(id))
        if (actual !== digest) {
          yield* way.drop(id)
          return yield* files.refusal(digest, actual)
        }
        yield* adopt(actor, place, id, digest)
      })
      yield* turns.take(id, piece?.bytes)(Effect.zipRight(unfinished(place, id), work))
    })

    const cancel = Effect.fn("Uploads.cancel")(function*(place: Place, id: string) {
      yield* unfinished(place, id)
      yield* turns.take(id)(way.drop(id))
    })

    /**
     * Gives the project a blob that another of the caller's has: whichever it is, where `from` does not say it
     * (specification, "Mounting a blob from another repository"). False when there is none to give.
     */
    const mount = Effect.fn("Uploads.mount")(function*(place: Place, digest: string, from: Place | undefined) {
      yield* checkDigest(digest)
      const actor = yield* CurrentActor
      const projects = from === undefined
        ? (yield* repo.projectsWith(actor.accountId, digest)).filter((id) => seesProject(actor, id))
        : [from.projectId]
      const found = yield* Effect.option(
        Effect.firstSuccessOf([place.projectId, ...projects].map((projectId) => find({ ...place, projectId }, digest)))
      )
      if (Option.isNone(found)) return false
      yield* repo.putBlob(place.projectId, digest, found.value.size)
      return true
    })

    const remove = Effect.fn("Uploads.remove")(function*(place: Place, digest: string) {
      const { accountId } = yield* CurrentActor
      yield* find(place, digest)
      const removed = yield* transactionally(sql)(
        Effect.zipRight(quotas.lock(accountId), repo.removeBlob(place.projectId, digest))
      )
      if (!removed) return yield* refused("UNSUPPORTED", "A manifest names this blob: delete that first")
      yield* cleanup.request
    })

    return { find, look, begin, arrived, append, finish, cancel, mount, remove } as const
  })
}) {}
