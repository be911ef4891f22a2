import { makePlaces } from "#src/uploads/places.ts"
import { type Refusal, refused } from "#src/uploads/Refusal.ts"
import { Uploads } from "#src/uploads/Uploads.ts"
import { Effect } from "effect"
import { type IncomingMessage } from "node:http"
import { partOf, pieceOf } from "./range.ts"
import { errorReply, type Reply } from "./reply.ts"

export const unsupported = (method: string | undefined) =>
  refused("UNSUPPORTED", `${method ?? "The method"} is not supported here`)

const addressOf = (name: string, rest: string) => `/v2/${name}/${rest}`

const progress = (name: string, id: string, size: number) => ({
  Location: addressOf(name, `blobs/uploads/${id}`),
  "Docker-Upload-UUID": id,
  Range: `0-${Math.max(0, size - 1)}`
})

const created = (name: string, digest: string): Reply => ({
  status: 201,
  headers: { Location: addressOf(name, `blobs/${digest}`), "Docker-Content-Digest": digest }
})

/** Blobs and their uploads (OCI distribution specification, "Pushing blobs", "Pulling blobs"). */
export const makeBlobs = Effect.gen(function*() {
  const uploads = yield* Uploads
  const placeOf = yield* makePlaces

  const blob = Effect.fnUntraced(function*(req: IncomingMessage, name: string, digest: string) {
    if (req.method === "DELETE") {
      yield* uploads.remove(yield* placeOf(name, "pushes"), digest)
      return { status: 202 } satisfies Reply
    }
    if (req.method !== "GET" && req.method !== "HEAD") return yield* unsupported(req.method)
    const { path, size } = req.method === "HEAD"
      ? yield* uploads.look(yield* placeOf(name, "looks"), digest)
      : yield* uploads.find(yield* placeOf(name, "pulls"), digest)
    const headers = {
      "Content-Type": "application/octet-stream",
      "Docker-Content-Digest": digest,
      "Accept-Ranges": "bytes",
      ETag: `"${digest}"`
    }
    const range = req.method === "GET" ? req.headers.range : undefined
    const part = partOf(range, size)
    if (part === undefined) {
      return errorReply(refused("RANGE_INVALID", `The blob has ${size} bytes`), { "Content-Range": `bytes */${size}` })
    }
    const isPart = part.start > 0 || part.end < size - 1
    return {
      status: isPart ? 206 : 200,
      headers: isPart ? { ...headers, "Content-Range": `bytes ${part.start}-${part.end}/${size}` } : headers,
      file: { path, ...part }
    } satisfies Reply
  })

  /** From where a blob is mounted, when the caller may read that repository. */
  const sourceOf = (from: string) => Effect.option(placeOf(from, "looks"))

  const begin = Effect.fnUntraced(function*(req: IncomingMessage, name: string, query: URLSearchParams) {
    if (req.method !== "POST") return yield* unsupported(req.method)
    const place = yield* placeOf(name, "pushes")
    const mount = query.get("mount")
    const from = query.get("from")
    if (mount !== null) {
      const source = from === null ? undefined : yield* sourceOf(from)
      const isGiven = source?._tag !== "None" && (yield* uploads.mount(place, mount, source?.value))
      if (isGiven) return created(name, mount)
    }
    const digest = query.get("digest")
    const id = yield* uploads.begin(place)
    if (digest === null) return { status: 202, headers: { ...progress(name, id, 0), "Content-Length": 0 } }
    yield* uploads.finish(place, id, digest, yield* pieceOf(req))
    return created(name, digest)
  })

  /** Says how far an upload has come to whoever sent another part of it (specification: 416). */
  const withProgress = (name: string, id: string) => <A, R>(work: Effect.Effect<A, Refusal, R>) =>
    Effect.catchIf(work, ({ code }) => code === "RANGE_INVALID", (refusal) => {
      const { size } = refusal.detail as { readonly size: number }
      return Effect.succeed(errorReply(refusal, progress(name, id, size)))
    })

  const upload = Effect.fnUntraced(function*(req: IncomingMessage, name: string, id: string, query: URLSearchParams) {
    const place = yield* placeOf(name, "pushes")
    switch (req.method) {
      case "GET":
      case "HEAD":
        return { status: 204, headers: progress(name, id, yield* uploads.arrived(place, id)) } satisfies Reply
      case "PATCH":
        return { status: 202, headers: progress(name, id, yield* uploads.append(place, id, yield* pieceOf(req))) }
      case "PUT": {
        const digest = query.get("digest")
        if (digest === null) return yield* refused("DIGEST_INVALID", "The digest is missing: ?digest=sha256:…")
        yield* uploads.finish(place, id, digest, yield* pieceOf(req))
        return created(name, digest)
      }
      case "DELETE":
        yield* uploads.cancel(place, id)
        return { status: 204 } satisfies Reply
      default:
        return yield* unsupported(req.method)
    }
  }, (work, _req, name, id) => withProgress(name, id)(work))

  return { blob, begin, upload } as const
})
