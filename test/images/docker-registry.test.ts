import { Images } from "#src/images/Images.ts"
import { writeLayout } from "#src/images/layout.ts"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describeWhen } from "../support/needs.ts"
import {
  imageFromLayout,
  missingDockerRegistry,
  pushImage,
  startDockerRegistry,
  testImage,
  testIndex,
  thisArch
} from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { deployImage, imagesTest } from "./images-test.ts"

describeWhen(missingDockerRegistry, "a real registry (Debian's docker-registry)", () => {
  const registry = Effect.acquireRelease(
    Effect.promise(startDockerRegistry),
    ({ close }) => Effect.promise(close)
  )

  it.scopedLive("serves an image written by us, by tag and by digest, alone and through an index", () =>
    Effect.gen(function*() {
      const { host } = yield* registry
      const directory = temporaryDirectory("layout")
      const config = { entrypoint: ["/app"], cmd: [], env: [], workingDir: "/", user: "" }
      const content = Buffer.alloc(2_000_000, "content ")
      const made = yield* writeLayout(directory, { config, layers: [[{ type: "file", path: "app", content }]] })
      const image = imageFromLayout(directory)
      const tagged = yield* Effect.promise(() => pushImage(host, "me/app", image, "v1"))
      const other = yield* Effect.promise(() => testImage({ architecture: "s390x" }))
      yield* Effect.promise(() => pushImage(host, "me/app", other, "other"))
      const index = testIndex([
        { image: other, platform: { os: "linux", architecture: "s390x" } },
        { image, platform: { os: "linux", architecture: thisArch } }
      ])
      const indexed = yield* Effect.promise(() => pushImage(host, "me/app", index, "multi"))
      for (const uri of [tagged, `${host}/me/app@${made.digest}`, indexed, `${host}/me/app:v1@${index.digest}`]) {
        const deployed = yield* Effect.provide(deployImage(uri), imagesTest({ allow: [host] }))
        expect(deployed.resolved.digest).toBe(made.digest)
        expect(readFileSync(join(deployed.rootfs, "app")).equals(content)).toBe(true)
      }
    }))

  it.scopedLive("says what it does not have", () =>
    Effect.gen(function*() {
      const { host } = yield* registry
      yield* Effect.gen(function*() {
        const images = yield* Images
        const missing = yield* Effect.flip(images.resolve(`${host}/me/none:v1`))
        expect(missing.reason).toBe("not_found")
        const other = yield* Effect.promise(() => testImage({ architecture: "s390x" }))
        const uri = yield* Effect.promise(() => pushImage(host, "me/app", other))
        expect((yield* Effect.flip(images.resolve(uri))).reason).toBe("wrong_architecture")
      }).pipe(Effect.provide(imagesTest({ allow: [host] })))
    }))
})
