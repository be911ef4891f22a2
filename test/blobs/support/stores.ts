import { BlobStore } from "#src/blobs/BlobStore.ts"
import { BlobsLive } from "#src/blobs/Live.ts"
import { Effect, Either, Layer, Logger, Option, type Scope } from "effect"
import { expect, it } from "vitest"
import { settingsTest } from "../../support/Settings.ts"

export type Store = typeof BlobStore.Service

export const storeOf = (variables: Readonly<Record<string, string>>, scope: Scope.Scope): Promise<Store> =>
  Layer.buildWithScope(BlobsLive.pipe(Layer.provide(settingsTest(variables))), scope).pipe(
    Effect.flatMap((context) => Effect.provide(BlobStore, context)),
    Effect.runPromise
  )

export const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect)

export const textAt = async (store: Store, key: string) =>
  Option.map(await run(store.get(key)), (bytes) => Buffer.from(bytes).toString())

export const outcome = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
  run(Effect.either(effect)).then(Either.match({ onLeft: ({ _tag }) => _tag, onRight: () => "done" }))

/** What the log has after an operation that must fail. */
export const logOf = async <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) => {
  const lines: Array<string> = []
  const logger = Logger.map(Logger.stringLogger, (line) => void lines.push(line))
  expect(await outcome(Effect.provide(effect, Logger.replace(Logger.defaultLogger, logger)))).toBe("StorageUnavailable")
  return lines.join("\n")
}

/** What every store does. */
export const usualTests = (of: () => Store) => {
  it("has what was put there, until it is removed", async () => {
    const store = of()
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
    const store = of()
    const keys = Array.from({ length: 40 }, (_, at) => `docs/${at}`)
    await Promise.all(keys.map((key) => run(store.put(key, Buffer.from(key)))))
    for (const key of keys) expect(await textAt(store, key)).toEqual(Option.some(key))
    await run(store.put("docs/empty", new Uint8Array()))
    expect(await textAt(store, "docs/empty")).toEqual(Option.some(""))
    for (const key of [...keys, "docs/empty"]) await run(store.remove(key))
  })

  it("takes no key that leads elsewhere", async () => {
    const store = of()
    for (const key of ["../a", "docs/../a", "docs", "docs/", "/a", "docs/a/b", "docs/.part", "docs/a\0", "a b/c", ""]) {
      expect(await outcome(store.put(key, new Uint8Array())), key).toBe("StorageUnavailable")
      expect(await outcome(store.get(key)), key).toBe("StorageUnavailable")
    }
    expect(await run(store.list)).toEqual([])
  })

  it("is in order", async () => {
    expect(await outcome(of().check)).toBe("done")
  })
}
