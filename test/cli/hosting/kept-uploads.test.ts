import { keptUploads } from "#src/cli/hosting/kept-uploads.ts"
import { imageError } from "#src/images/ImageError.ts"
import { ImageLimits } from "#src/images/limits.ts"
import { pushImage } from "#src/images/push-image.ts"
import { registryCalls } from "#src/images/registry-calls.ts"
import { makeGuardedHttp } from "#src/shared/GuardedHttp.ts"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Readable } from "node:stream"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../../support/account.ts"
import { useBerth } from "../../support/Berth.ts"
import { type PassedRequest, startBreakable } from "../../support/breakable.ts"
import { testImage } from "../../support/image.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { runSql } from "../../support/sql.ts"
import { repository } from "../../uploads/support/client.ts"

const MB = 1024 ** 2
const cache = temporaryDirectory("cache")

describe("a push of the command line", () => {
  const berth = useBerth()
  let owner: Account
  let proxy: Awaited<ReturnType<typeof startBreakable>>
  beforeAll(async () => {
    owner = await berth.signUp("pro")
    proxy = await startBreakable(new URL(berth.url).host)
    return () => proxy.close()
  })

  const imageOf = (layer: Uint8Array) => testImage({ layers: [[{ name: "data", content: Buffer.from(layer) }]] })

  const push = (repository: string, image: Awaited<ReturnType<typeof testImage>>) =>
    Effect.gen(function*() {
      const root = `http://${proxy.host}`
      const limits = { ...(yield* ImageLimits), pushPauseMs: 1 }
      const calls = yield* registryCalls({ http: yield* makeGuardedHttp([proxy.host]), limits, loopback: true }, {
        root,
        registry: proxy.host,
        repository,
        actions: "pull,push",
        authorize: Effect.succeed(`Bearer ${owner.token}`),
        refused: (what, said) => imageError("unauthorized", said?.message ?? what)
      })
      return yield* pushImage(calls, {
        ...image,
        blobs: [...image.blobs].map(([digest, { length }]) => ({ mediaType: "any/type", digest, size: length })),
        open: (digest, start, end) => Readable.from([image.blobs.get(digest)!.subarray(start, end)])
      }, {
        ...limits,
        tag: "latest",
        pauseMs: 1,
        chunkBytes: MB,
        mountAnywhere: true,
        kept: yield* keptUploads(cache, `${root}/v2/${repository}`)
      })
    }).pipe(Effect.scoped, Effect.either, Effect.runPromise)

  const isChunk = ({ method, path }: PassedRequest) => method === "PATCH" && path.includes("/blobs/uploads/")
  const unfinished = () => runSql(berth.databaseUrl, "SELECT id FROM unfinished_uploads")
  const notes = () => readdirSync(join(cache, "uploads"))

  it("goes on with the upload that an earlier one began, and notes nothing once it has ended", async () => {
    const { name } = await repository(owner)
    const image = await imageOf(randomBytes(3 * MB))
    let chunks = 0
    proxy.breaks((request) => isChunk(request) && request.size >= MB && ++chunks > 1 ? { status: 503 } : undefined)
    expect(await push(name, image)).toMatchObject({ _tag: "Left", left: { reason: "unreachable" } })
    expect(notes()).not.toEqual([])
    proxy.breaks()
    const total = [...image.blobs.values()].reduce((sum, { length }) => sum + length, 0)
    const second = await push(name, image)
    expect(second).toMatchObject({ _tag: "Right" })
    if (second._tag === "Right") {
      expect(second.right.present).toBeGreaterThanOrEqual(MB)
      expect(second.right.present + second.right.sent).toBe(total)
    }
    expect(notes()).toEqual([])
    expect(await unfinished()).toEqual([])
    const again = await push(name, image)
    expect(again).toMatchObject({ _tag: "Right", right: { present: total, sent: 0 } })
  })

  it("sends nothing that another project of the account has", async () => {
    const image = await imageOf(randomBytes(1000))
    await push((await repository(owner)).name, image)
    const second = await repository(owner, "app", await owner.project("Another"))
    const total = [...image.blobs.values()].reduce((sum, { length }) => sum + length, 0)
    expect(await push(second.name, image)).toMatchObject({ _tag: "Right", right: { present: total, sent: 0 } })
  })

  it("cancels its uploads when it is refused", async () => {
    const { name } = await repository(owner)
    let chunks = 0
    proxy.breaks((request) => isChunk(request) && request.size >= MB && ++chunks > 1 ? { status: 507 } : undefined)
    expect(await push(name, await imageOf(randomBytes(3 * MB)))).toMatchObject({
      _tag: "Left",
      left: { reason: "full" }
    })
    proxy.breaks()
    expect([await unfinished(), notes()]).toEqual([[], []])
  })

  it("begins anew where the note is of an upload that is gone, of another host, or no note", async () => {
    const { name } = await repository(owner)
    const image = await imageOf(randomBytes(1000))
    mkdirSync(join(cache, "uploads"), { recursive: true })
    const kept = await Effect.runPromise(keptUploads(cache, `http://${proxy.host}/v2/${name}`))
    const [gone, elsewhere] = [...image.blobs.keys()] as [string, string]
    await Effect.runPromise(kept.put(gone, `http://${proxy.host}/v2/${name}/blobs/uploads/${crypto.randomUUID()}`))
    await Effect.runPromise(kept.put(elsewhere, "http://127.0.0.1:1/v2/x/blobs/uploads/1"))
    expect(await Effect.runPromise(kept.find(elsewhere))).toBeUndefined()
    expect(await push(name, image)).toMatchObject({ _tag: "Right" })
    await Effect.runPromise(kept.put(gone, "x"))
    for (const note of notes()) writeFileSync(join(cache, "uploads", note), "{")
    expect(await Effect.runPromise(kept.find(gone))).toBeUndefined()
  })
})
