import { PackageScripts } from "#src/deployments/PackageScripts.ts"
import { Images } from "#src/images/Images.ts"
import { Packages } from "#src/packages/Packages.ts"
import { assert } from "@effect/vitest"
import { Effect, Either } from "effect"
import { existsSync, mkdirSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { afterAll } from "vitest"
import { longPlatformSuite } from "../deployments/support/platform.ts"
import { stdioShimBundle } from "../ready-server/bundle.ts"
import { full } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { startNpmRegistry } from "./support/npm-registry.ts"
import { stdioServer } from "./support/stdio-server.ts"

const registry = full ? await startNpmRegistry() : undefined
afterAll(() => registry?.close())
const home = temporaryDirectory("lost")

const quiet = () => Effect.void

longPlatformSuite("the image of a package", (it) => {
  it.effect(
    "is made again by its lock when it was lost, although there is a newer version now",
    () =>
      Effect.gen(function*() {
        yield* Effect.promise(stdioShimBundle)
        const publish = (version: string) =>
          Effect.promise(() => registry!.publish("thing", version, { "a.js": stdioServer() }, { bin: "a.js" }))
        yield* publish("1.0.0")
        const packages = yield* Packages
        const images = yield* Images
        const { package: made, resolved } = yield* packages.resolve("npm:thing", quiet)
        assert.strictEqual(made.version, "1.0.0")
        yield* images.collect(Effect.succeed(new Set<string>()))
        assert.isFalse(yield* images.has(resolved.digest))
        yield* publish("1.1.0")
        yield* packages.again("npm:thing", resolved.digest)
        assert.isTrue(yield* images.has(resolved.digest))
        const newer = yield* packages.resolve("npm:thing", quiet)
        assert.strictEqual(newer.package.version, "1.1.0")
        assert.notStrictEqual(newer.resolved.digest, resolved.digest)
        const unknown = yield* Effect.either(packages.again("npm:thing", `sha256:${"0".repeat(64)}`))
        assert.strictEqual(Either.getOrThrow(Either.flip(unknown)).reason, "not_found")
      }),
    120_000
  )

  it.effect(
    "is made again with its install scripts, when it was made with them",
    () =>
      Effect.gen(function*() {
        yield* Effect.promise(() =>
          registry!.publish("scripted", "1.0.0", { "a.js": stdioServer() }, {
            bin: "a.js",
            scripts: { postinstall: "echo made > made" },
            hasInstallScript: true
          })
        )
        const packages = yield* Packages
        const images = yield* Images
        const scripts = yield* PackageScripts
        const record = { id: "dep_scripted", serverId: "srv_none", packageScripts: true }
        const run = scripts.of(record as Parameters<typeof scripts.of>[0])
        const { resolved } = yield* packages.resolve("npm:scripted", quiet, { scripts: run })
        yield* images.collect(Effect.succeed(new Set<string>()))
        // Without them it would be another.
        const plain = yield* Effect.flip(packages.again("npm:scripted", resolved.digest))
        assert.strictEqual(plain.reason, "not_found")
        yield* packages.again("npm:scripted", resolved.digest, run)
        assert.isTrue(yield* images.has(resolved.digest))
      }),
    120_000
  )

  it.effect(
    "is made once when many ask at once, and a folder that a crash left behind goes",
    () =>
      Effect.gen(function*() {
        const left = join(home, "packages", ".tmp-4194303-00")
        mkdirSync(left, { recursive: true })
        const packages = yield* Packages
        const before = registry!.seen.filter((path) => path.endsWith(".tgz")).length
        yield* Effect.promise(() => registry!.publish("other", "1.0.0", { "a.js": stdioServer() }, { bin: "a.js" }))
        const all = yield* Effect.forEach(
          ["npm:other", "npm:other", "npm:other@1.0.0", "npm:other"],
          (imageUri) => packages.resolve(imageUri, quiet),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(all.map(({ resolved }) => resolved.digest)).size, 1)
        const fetched = registry!.seen.filter((path) => path.endsWith(".tgz")).length - before
        assert.isAtMost(fetched, 2)
        assert.isFalse(existsSync(left))
        const names = yield* Effect.promise(() => readdir(join(home, "packages")))
        assert.deepStrictEqual(names, ["runtime-node"])
      }),
    120_000
  )
}, {
  BERTH_HOME: home,
  ...registry === undefined ? {} : { NPM_REGISTRY: registry.url, ALLOWED_PRIVATE_HOSTS: registry.host }
})
