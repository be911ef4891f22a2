import { Effect, Exit, Option, Scope } from "effect"
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { accessDenied, type FakeS3, fakeS3, s3Variables, slowDown } from "../support/s3.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { logOf, outcome, run, type Store, storeOf, textAt, usualTests } from "./support/stores.ts"

const scope = Effect.runSync(Scope.make())
const home = temporaryDirectory()
const stores: Record<string, Store> = {}
let s3: FakeS3

beforeAll(async () => {
  s3 = await Effect.runPromise(Scope.extend(fakeS3, scope))
  stores["files"] = await storeOf({ BERTH_HOME: home }, scope)
  stores["S3"] = await storeOf(s3Variables(s3.url), scope)
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

describe.each(["files", "S3"])("a store in %s", (name) => usualTests(() => stores[name]!))

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
    const whole = await storeOf(s3Variables(s3.url, "files"), scope)
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
    const elsewhere = await storeOf(s3Variables(s3.url, "no-such-bucket"), scope)
    expect(await outcome(elsewhere.put("docs/a", Buffer.from("a")))).toBe("StorageUnavailable")
    // A wrong bucket is not an empty one.
    expect(await outcome(elsewhere.get("docs/a"))).toBe("StorageUnavailable")
    expect(await outcome(elsewhere.list)).toBe("StorageUnavailable")
    const away = await storeOf(s3Variables("http://127.0.0.1:9"), scope)
    expect(await outcome(away.get("docs/a"))).toBe("StorageUnavailable")
  })

  it("that is none is told, and has lost nothing", async () => {
    const at = `${s3.url} answers`
    for (
      const [failure, sentence] of [
        [{ status: 404 }, `${at} 404, and not as S3 does; correct S3_ENDPOINT`],
        [{ status: 404, body: "<html>Not found</html>" }, `${at} 404, and not as S3 does; correct S3_ENDPOINT`],
        [accessDenied, "let it read, write, delete and list in the bucket files"],
        [{ ...accessDenied, body: String(accessDenied.body).replaceAll("AccessDenied", "Odd") }, `${at} Odd (Odd)`]
      ] as const
    ) {
      s3.failures.push(failure)
      expect(await logOf(stores["S3"]!.get("docs/none"))).toContain(sentence)
    }
  })
})
