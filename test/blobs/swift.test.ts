import { Effect, Exit, Option, Scope } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Bucket, swiftBucket } from "../support/bucket.ts"
import { describeWhen } from "../support/needs.ts"
import { missingSwift, type Swift, swiftServer } from "../support/swift.ts"
import { logOf, outcome, run, type Store, storeOf, textAt, usualTests } from "./support/stores.ts"

describeWhen(missingSwift, "a store in OpenStack Swift", () => {
  const scope = Effect.runSync(Scope.make())
  let swift: Swift
  let bucket: Bucket
  let store: Store
  beforeAll(async () => {
    swift = await Effect.runPromise(Scope.extend(swiftServer, scope))
    bucket = swiftBucket(swift)
    store = await storeOf(bucket.variables(), scope)
  }, 120_000)
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  usualTests(() => store)

  it("is below its prefix in its bucket, page by page, whatever else is there", async () => {
    const names = ["berth-2/docs/x", "other/docs/x", "berth/docs/a b+c%20&é<😀>.md", "berth/x", "berth/docs/a/b", "+"]
    for (const name of names) await bucket.put(name, "another's")
    for (const key of ["docs/a", "docs/b.c_d-e", "docs/c..d"]) await run(store.put(key, Buffer.from(key)))
    expect(await run(store.list)).toEqual(["docs/a", "docs/b.c_d-e", "docs/c..d"])
    const objects = await bucket.objects()
    expect([objects.size, objects.get("berth/docs/b.c_d-e")]).toEqual([names.length + 3, "docs/b.c_d-e"])
    const odd = await storeOf(bucket.variables("files/a.b_c/d-e"), scope)
    await run(odd.put("docs/a", Buffer.from("odd")))
    expect((await bucket.objects()).get("a.b_c/d-e/docs/a")).toBe("odd")
    expect([await run(odd.list), await textAt(odd, "docs/a")]).toEqual([["docs/a"], Option.some("odd")])
    for (const name of (await bucket.objects()).keys()) await bucket.remove(name)
  })

  it("has one whole file of many that are written to a key at once, and of half a megabyte each", async () => {
    const texts = Array.from({ length: 12 }, (_, at) => String.fromCharCode(97 + at).repeat(524_288 - at))
    await Promise.all(texts.map((text) => run(store.put("docs/one", Buffer.from(text)))))
    expect(texts).toContain(Option.getOrThrow(await textAt(store, "docs/one")))
    await Promise.all([1, 2, 3].map(() => run(store.remove("docs/one"))))
    expect(await textAt(store, "docs/one")).toEqual(Option.none())
  })

  it("with another key, secret, region or bucket does nothing, and says what to set", async () => {
    const usual = bucket.variables()
    await run(store.put("docs/a", Buffer.from("a")))
    const at = swift.url
    for (
      const [wrong, sentence] of [
        [
          { S3_SECRET_ACCESS_KEY: "hunter3" },
          `${at} does not accept the access key, or its secret; correct S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY`
        ],
        [{ S3_ACCESS_KEY_ID: "nobody:test" }, "correct S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY"],
        [{ S3_REGION: "us-east-1" }, `${at} is of another region; correct S3_REGION (`],
        [
          { S3_BUCKET: "no-such-bucket/berth" },
          `there is no bucket no-such-bucket at ${at}; create it, or name another in S3_BUCKET`
        ],
        [{ S3_ENDPOINT: at.replace("http:", "https:") }, "does not speak TLS"]
      ] as const
    ) {
      const other = await storeOf({ ...usual, ...wrong }, scope)
      const operations = [other.check, other.get("docs/a"), other.put("docs/a", Buffer.from("b")), other.list]
      for (const operation of [...operations, other.remove("docs/a")]) {
        const log = await logOf(operation)
        expect(log).toContain(sentence)
        expect(log).not.toMatch(/hunter|AWS4|\$metadata/)
      }
    }
    expect(await textAt(store, "docs/a")).toEqual(Option.some("a"))
    await run(store.remove("docs/a"))
  })

  it("that is started again has what it had, and takes more", async () => {
    await run(store.put("docs/a", Buffer.from("a")))
    await swift.stop()
    expect(await logOf(store.get("docs/a"))).toContain(`${swift.url} can't be reached`)
    expect(await outcome(store.put("docs/b", Buffer.from("b")))).toBe("StorageUnavailable")
    expect(await outcome(store.list)).toBe("StorageUnavailable")
    await swift.start()
    expect(await textAt(store, "docs/a")).toEqual(Option.some("a"))
    await run(store.put("docs/b", Buffer.from("b")))
    expect(await run(store.list)).toEqual(["docs/a", "docs/b"])
    for (const key of ["docs/a", "docs/b"]) await run(store.remove(key))
  }, 120_000)
})
