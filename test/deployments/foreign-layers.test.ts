import { Deployments } from "#src/deployments/Deployments.ts"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { imageFromLayout, startFakeRegistry } from "../support/registry.ts"
import { appImage } from "./support/app-image.ts"
import { makeServer, platformSuite } from "./support/platform.ts"

platformSuite("a layer that the store has from another account", (it) => {
  const deploying = (imageUri: string) =>
    Effect.gen(function*() {
      const deployments = yield* Deployments
      const { as, server } = yield* makeServer()
      const deploy = (uri: string) =>
        Effect.flatMap(as(deployments.deploy(server.id, { imageUri: uri })), ({ id }) => as(deployments.settled(id)))
      return { first: yield* deploy(imageUri), deploy }
    })

  it.effect("is pulled from the registry of who names it, and not given for its digest", () =>
    Effect.gen(function*() {
      const registryOf = Effect.acquireRelease(
        Effect.promise(() => startFakeRegistry()),
        ({ close }) => Effect.promise(close)
      )
      const registry = yield* registryOf
      const layout = yield* appImage("healthy", { extra: "private" })
      const image = imageFromLayout(layout.slice("oci:".length))
      const uri = registry.add("private/app", image, "v1")
      const { deploy: again, first } = yield* deploying(uri)
      assert.strictEqual(first.status, "running", first.errorMessage ?? "")

      // Another's registry that knows all digests, the manifest and the config, and has no layer.
      const thief = yield* registryOf
      const theirs = thief.add("stolen/app", image, "v1")
      const { layers } = JSON.parse(image.manifest.toString()) as { layers: ReadonlyArray<{ digest: string }> }
      for (const { digest } of layers) thief.blobs.delete(digest)
      const stolen = yield* deploying(theirs)
      assert.strictEqual(stolen.first.status, "failed")
      assert.match(stolen.first.errorMessage ?? "", /^(scanning|mirroring): blob sha256:\w+ of \S+ does not exist/)

      // Whoever's registry sends the bytes has the layer; the account that pulled it before need not pull it again.
      for (const { digest } of layers) thief.blobs.set(digest, image.blobs.get(digest)!)
      assert.strictEqual((yield* stolen.deploy(theirs)).status, "running")
      const asked = registry.seen.filter(({ path }) => path.includes("/blobs/")).length
      assert.strictEqual((yield* again(uri)).status, "running")
      const more = registry.seen.filter(({ path }) => path.includes("/blobs/")).length - asked
      // The config alone, to find the platform's image.
      assert.strictEqual(more, 1)
    }).pipe(Effect.scoped), 90_000)
}, { ALLOWED_PRIVATE_HOSTS: "127.0.0.1" })
