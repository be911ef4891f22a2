import { ImageLimits } from "#src/images/limits.ts"
import { Manifests } from "#src/uploads/Manifests.ts"
import { makePlaces } from "#src/uploads/places.ts"
import { refused } from "#src/uploads/Refusal.ts"
import { Effect } from "effect"
import { type IncomingMessage } from "node:http"
import { unsupported } from "./blobs.ts"
import { json, type Reply } from "./reply.ts"

/** At most so many tags in an answer. */
const mostTags = 1_000

const isRead = (method: string | undefined) => method === "GET" || method === "HEAD"

/** Manifests, tags and referrers (OCI distribution specification, "Pushing manifests", "Content Discovery"). */
export const makeManifests = Effect.gen(function*() {
  const manifests = yield* Manifests
  const limits = yield* ImageLimits
  const placeOf = yield* makePlaces

  const bodyOf = (req: IncomingMessage) =>
    Effect.tryPromise({
      try: async () => {
        const chunks: Array<Buffer> = []
        let size = 0
        for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
          size += chunk.length
          if (size > limits.document) return undefined
          chunks.push(chunk)
        }
        return Buffer.concat(chunks)
      },
      catch: () => refused("MANIFEST_INVALID", "The connection was cut")
    }).pipe(Effect.flatMap((bytes) =>
      bytes === undefined
        ? refused("SIZE_INVALID", `A manifest may have ${limits.document} bytes at most`)
        : Effect.succeed(bytes)
    ))

  const manifest = Effect.fnUntraced(function*(req: IncomingMessage, name: string, reference: string) {
    const { method } = req
    if (method === "PUT") {
      const place = yield* placeOf(name, "pushes")
      const digest = yield* manifests.put(place, reference, yield* bodyOf(req), req.headers["content-type"])
      const headers = { Location: `/v2/${name}/manifests/${digest}`, "Docker-Content-Digest": digest }
      return { status: 201, headers } satisfies Reply
    }
    if (method === "DELETE") {
      yield* manifests.remove(yield* placeOf(name, "pushes"), reference)
      return { status: 202 } satisfies Reply
    }
    if (!isRead(method)) return yield* unsupported(method)
    const found = yield* manifests.find(yield* placeOf(name, method === "HEAD" ? "looks" : "pulls"), reference)
    const { digest, mediaType } = found
    const headers = { "Content-Type": mediaType, "Docker-Content-Digest": digest, ETag: `"${digest}"` }
    return { status: 200, headers, body: yield* manifests.read(found) } satisfies Reply
  })

  const tags = Effect.fnUntraced(function*(req: IncomingMessage, name: string, query: URLSearchParams) {
    if (!isRead(req.method)) return yield* unsupported(req.method)
    const place = yield* placeOf(name, "pulls")
    const asked = query.get("n")
    if (asked !== null && !/^\d{1,9}$/.test(asked)) {
      return yield* refused("PAGINATION_NUMBER_INVALID", "n is how many tags to list, as a number")
    }
    const count = Math.min(asked === null ? mostTags : Number(asked), mostTags)
    const found = yield* manifests.tags(place, query.get("last") ?? "", count + 1)
    const listed = found.slice(0, count)
    const last = listed.at(-1)
    const next = found.length > count && last !== undefined
      ? { Link: `</v2/${name}/tags/list?n=${count}&last=${encodeURIComponent(last)}>; rel="next"` }
      : {}
    return json(200, { name, tags: listed }, next)
  })

  /** Referrers are not kept: clients find them by their tags. */
  const referrers = Effect.fnUntraced(function*(req: IncomingMessage, name: string) {
    if (!isRead(req.method)) return yield* unsupported(req.method)
    yield* placeOf(name, "pulls")
    const mediaType = "application/vnd.oci.image.index.v1+json"
    return json(200, { schemaVersion: 2, mediaType, manifests: [] }, { "Content-Type": mediaType })
  })

  return { manifest, tags, referrers } as const
})
