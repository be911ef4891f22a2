import { Effect } from "effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { type FakeRegistryOptions, startFakeRegistry, testImage, type TestImageOptions } from "../support/registry.ts"
import { type Bench, deployImage, imagesTest } from "./bench.ts"

export * from "./bench.ts"

/** A registry of this process, closed with the scope. */
export const fakeRegistry = (options?: FakeRegistryOptions) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeRegistry(options)),
    (registry) => Effect.promise(registry.close)
  )

export const image = (options?: TestImageOptions) => Effect.promise(() => testImage(options))

/** The names in a home's store, half-made ones included. */
export const blobsIn = (home: string): ReadonlyArray<string> => {
  try {
    return readdirSync(join(home, "images", "blobs", "sha256")).sort()
  } catch {
    return []
  }
}

/** Puts an image of these options into a registry and deploys it from there. */
export const deployed = (options: TestImageOptions, bench: Bench = {}) =>
  Effect.gen(function*() {
    const registry = yield* fakeRegistry()
    const uri = registry.add("me/app", yield* image(options), "v1")
    return yield* Effect.provide(deployImage(uri), imagesTest({ allow: [registry.host], ...bench }))
  })

/** Every path below a directory, sorted. */
export const tree = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, encoding: "utf8" }).sort()
