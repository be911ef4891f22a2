import { BlobStore } from "#src/blobs/BlobStore.ts"
import { BlobsLive } from "#src/blobs/Live.ts"
import { Effect, Either, Exit, Layer, Option, Scope } from "effect"
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { accessDenied, type FakeS3, fakeS3, s3Variables, slowDown } from "../support/s3.ts"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"

const scope = Effect.runSync(Scope.make())
const home = temporaryDirectory()
const stores: Record<string, typeof BlobStore.Service> = {}
let s3: FakeS3

const storeOf = (variables: Readonly<Record<string, string>>) =>
  Layer.buildWithScope(BlobsLive.pipe(Layer.provide(settingsTest(variables))), scope).pipe(
    Effect.flatMap((context) => Effect.provide(BlobStore, context)),
    Effect.runPromise
  )

beforeAll(async () => {
  s3 = await Effect.runPromise(Scope.extend(fakeS3, scope))
  stores["files"] = await storeOf({ BERTH_HOME: home })
  stores["S3"] = await storeOf(s3Variables(s3.url))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect)
const textAt = async (store: typeof BlobStore.Service, key: string) =>
  Option.map(await run(store.get(key)), (bytes) => Buffer.from(bytes).toString())
const outcome = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
  run(Effect.either(effect)).then(Either.match({ onLeft: ({ _tag }) => _tag, onRight: () => "done" }))

describe.each(["files", "S3"])("a store in %s", (name) => {
  it("has what was put there, until it is removed", async () => {
    const store = stores[name]!
    const bytes = Buffer.from([0, 255, 10, 13, 0])
    expect([await run(store.list), await textAt(store, "docs/none")]).toEqual([[], Option.none()])
    await run(store.put("docs/a", bytes))
    expect(Option.map(await run(store.get("docs/a")), (stored) => Buffer.from(stored))).toEqual(Option.some(bytes))
    await run(store.put("docs/a", Buffer.from("again")))
    expect(await textAt(store, "docs/a")).toEqual(Option.some("again"))
    const keys = ["docs/a", "docs/b", "docs/c.json", "more/d", "more/e"]
    for (const key of keys.slice(1)) await run(store.put(key, Buffer.from(key)))
    expect(await run(store.list)).toEqual(keys)
    for (const key of [...keys, "docs/a", "none/x"]) await run(store.remove(key))
    expect(await run(store.list)).toEqual([])
  })

  it("takes many at once, and an empty one", async () => {
    const store = stores[name]!
    const keys = Array.from({ length: 40 }, (_, at) => `docs/${at}`)
    await Promise.all(keys.map((key) => run(store.put(key, Buffer.from(key)))))
    for (const key of keys) expect(await textAt(store, key)).toEqual(Option.some(key))
    await run(store.put("docs/empty", new Uint8Array()))
    expect(await textAt(store, "docs/empty")).toEqual(Option.some(""))
    for (const key of [...keys, "docs/empty"]) await run(store.remove(key))
  })

  it("takes no key that leads elsewhere", async () => {
    const store = stores[name]!
    for (const key of ["../a", "docs/../a", "docs", "docs/", "/a", "docs/a/b", "docs/.part", "docs/a\0", "a b/c", ""]) {
      expect(await outcome(store.put(key, new Uint8Array())), key).toBe("StorageUnavailable")
      expect(await outcome(store.get(key)), key).toBe("StorageUnavailable")
    }
    expect(await run(store.list)).toEqual([])
  })
})

describe("a store in files", () => {
  it("is for its owner only, and shows no part of a write that was cut off", async () => {
    const store = stores["files"]!
    await run(store.put("docs/a", Buffer.from("a")))
    const folder = join(home, "blobs", "docs")
    writeFileSync(join(folder, ".0123456789abcdef.part"), "half")
    expect([await run(store.list), readdirSync(folder).length]).toEqual([["docs/a"], 2])
    expect([statSync(join(folder, "a")).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700])
    rmSync(folder, { recursive: true })
  })

  it("that can't be written or read is told, and leaves nothing", async () => {
    const store = stores["files"]!
    const folder = join(home, "blobs", "docs")
    writeFileSync(folder, "")
    expect(await outcome(store.put("docs/a", Buffer.from("a")))).toBe("StorageUnavailable")
    expect(await outcome(store.get("docs/a"))).toBe("StorageUnavailable")
    rmSync(folder)
    mkdirSync(join(folder, "a"), { recursive: true })
    expect(await outcome(store.put("docs/a", Buffer.from("a")))).toBe("StorageUnavailable")
    expect(readdirSync(folder)).toEqual(["a"])
    rmSync(folder, { recursive: true })
  })
})

describe("a store in S3", () => {
  it("is below its prefix in its bucket", async () => {
    const store = stores["S3"]!
    s3.objects.set("files/other/docs/x", Buffer.from("another's"))
    s3.objects.set("files/berth-2/docs/x", Buffer.from("another's"))
    await run(store.put("docs/a", Buffer.from("a")))
    expect(s3.objects.get("files/berth/docs/a")?.toString()).toBe("a")
    expect(await run(store.list)).toEqual(["docs/a"])
    const whole = await storeOf(s3Variables(s3.url, "files"))
    await run(whole.put("docs/b", Buffer.from("b")))
    expect(s3.objects.get("files/docs/b")?.toString()).toBe("b")
    s3.objects.clear()
  })

  it("is asked again when it is busy, and not for ever", async () => {
    const store = stores["S3"]!
    s3.failures.push(slowDown, slowDown)
    s3.asked.length = 0
    await run(store.put("docs/a", Buffer.from("a")))
    expect(s3.asked).toEqual(Array.from({ length: 3 }, () => "PUT /files/berth/docs/a"))
    s3.failures.push(slowDown, slowDown, slowDown)
    expect(await outcome(store.get("docs/a"))).toBe("StorageUnavailable")
    expect(s3.failures).toEqual([])
    expect(await textAt(store, "docs/a")).toEqual(Option.some("a"))
  })

  it("that refuses the key, has no such bucket, or is away is told", async () => {
    const store = stores["S3"]!
    s3.failures.push(accessDenied)
    expect(await outcome(store.put("docs/a", Buffer.from("a")))).toBe("StorageUnavailable")
    s3.failures.push(accessDenied)
    expect(await outcome(store.get("docs/a"))).toBe("StorageUnavailable")
    const elsewhere = await storeOf(s3Variables(s3.url, "no-such-bucket"))
    expect(await outcome(elsewhere.put("docs/a", Buffer.from("a")))).toBe("StorageUnavailable")
    // A wrong bucket is not an empty one.
    expect(await outcome(elsewhere.get("docs/a"))).toBe("StorageUnavailable")
    expect(await outcome(elsewhere.list)).toBe("StorageUnavailable")
    const away = await storeOf(s3Variables("http://127.0.0.1:9"))
    expect(await outcome(away.get("docs/a"))).toBe("StorageUnavailable")
  })
})
