import { Images } from "#src/images/Images.ts"
import { type LayoutEntry, writeLayout } from "#src/images/layout.ts"
import { mediaTypes } from "#src/images/manifest.ts"
import { Mirror } from "#src/images/Mirror.ts"
import { expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { createCipheriv } from "node:crypto"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { type PassedRequest, startBreakable } from "../support/breakable.ts"
import { describeWhen } from "../support/needs.ts"
import { missingDockerRegistry, startDockerRegistry } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { imagesTest } from "./images-test.ts"

/** Bytes that no compression makes smaller, the same for the same seed. */
const noise = (bytes: number, seed: number) =>
  createCipheriv("aes-128-ctr", Buffer.alloc(16, seed), Buffer.alloc(16)).update(Buffer.alloc(bytes))

const config = { entrypoint: ["/app"], cmd: [], env: [], workingDir: "/", user: "" }

/** A layout with an image of a layer for each of these seeds. */
const layoutOf = (...seeds: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const directory = temporaryDirectory("layout")
    const layers = seeds.map((seed): ReadonlyArray<LayoutEntry> => [
      { type: "file", path: `app${seed}`, content: noise(3_000_000, seed) }
    ])
    yield* writeLayout(directory, { config, layers })
    return directory
  })

/** What the registry itself answers for an image of the mirror. */
const there = (host: string, digest: string) =>
  Effect.promise(async () => {
    const headers = { accept: mediaTypes.manifest }
    return (await fetch(`http://${host}/v2/team/berth/manifests/${digest}`, { headers })).status
  })

const uploads = (seen: ReadonlyArray<PassedRequest>) => seen.filter(({ method }) => method === "PATCH")

describeWhen(missingDockerRegistry, "the operator's registry", () => {
  const place = Effect.gen(function*() {
    const registry = yield* Effect.acquireRelease(
      Effect.promise(() => startDockerRegistry()),
      ({ close }) => Effect.promise(close)
    )
    const proxy = yield* Effect.acquireRelease(
      Effect.promise(() => startBreakable(registry.host)),
      ({ close }) => Effect.promise(close)
    )
    const home = temporaryDirectory("mirror")
    const use = <A, E>(work: Effect.Effect<A, E, Images | Mirror>, variables: Readonly<Record<string, string>> = {}) =>
      Effect.provide(
        work,
        imagesTest({
          home,
          limits: { pushPauseMs: 10, documentMs: 2_000 },
          variables: { REGISTRY_URL: `http://${proxy.host}/team/berth`, ...variables }
        })
      )
    return { home, proxy, registry, use }
  })

  const mirrorOf = Effect.map(Mirror, ({ at }) => Option.getOrThrow(at))
  const stored = (...seeds: ReadonlyArray<number>) =>
    Effect.gen(function*() {
      return yield* (yield* Images).adopt(yield* layoutOf(...seeds), "npm:sample")
    })
  const pushed = (...seeds: ReadonlyArray<number>) =>
    Effect.gen(function*() {
      const { digest } = yield* stored(...seeds)
      return { digest, done: yield* (yield* mirrorOf).push(digest, "npm:sample") }
    })

  it.scopedLive("gets an image by its digest, only what it lacks, and gives it back", () =>
    Effect.gen(function*() {
      const { home, proxy, use } = yield* place
      const { digest } = yield* use(pushed(1))
      expect(proxy.seen.at(-1)).toMatchObject({
        method: "PUT",
        path: `/v2/team/berth/manifests/image-${digest.slice(7)}`
      })
      proxy.breaks()
      expect((yield* use(pushed(1))).done).toBeUndefined()
      expect(proxy.seen.map(({ method }) => method)).toEqual(["HEAD"])
      const { done } = yield* use(pushed(1, 2))
      expect(done?.present).toBeGreaterThan(3_000_000)
      expect(done?.sent).toBeLessThan(3_100_000)

      rmSync(join(home, "images"), { recursive: true })
      yield* use(Effect.gen(function*() {
        yield* (yield* mirrorOf).pull(digest, "npm:sample")
        expect(yield* (yield* Images).has(digest)).toBe(true)
      }))
    }))

  it.scopedLive(
    "that breaks off half-way through a layer is asked again, and has the whole image or none",
    () =>
      Effect.gen(function*() {
        const { proxy, registry, use } = yield* place
        let cuts = 2
        proxy.breaks(({ method, size }) =>
          method === "PATCH" && size > 1_500_000 && cuts-- > 0 ? { cutAfter: 1_500_000 } : undefined
        )
        const { digest } = yield* use(pushed(3))
        expect(uploads(proxy.seen).length).toBeGreaterThan(3)
        expect(yield* there(registry.host, digest)).toBe(200)

        proxy.breaks(({ method }) => method === "PATCH" ? { cutAfter: 1_000_000 } : undefined)
        const failure = yield* Effect.flip(use(pushed(4)))
        expect(failure.reason).toBe("unreachable")
        expect(proxy.seen.some(({ path }) => path.includes("/manifests/image-"))).toBe(false)
        proxy.breaks()
        yield* use(pushed(4))
      }),
    30_000
  )

  it.scopedLive("that answers 500, or 429, or is slow, gets the image in the end", () =>
    Effect.gen(function*() {
      const { proxy, use } = yield* place
      let faults = 2
      proxy.breaks(({ method }) => {
        if (method === "PATCH") return { slow: 5 }
        return method === "POST" && faults-- > 0 ? { status: faults === 0 ? 500 : 429 } : undefined
      })
      expect((yield* use(pushed(5))).done?.sent).toBeGreaterThan(3_000_000)
      expect(faults).toBeLessThan(0)
    }))

  it.scopedLive.each(
    [
      ["unauthorized", { status: 403 }, 1],
      ["full", { status: 500, body: "{\"errors\":[{\"code\":\"UNKNOWN\",\"detail\":{\"Err\":28}}]}" }, 1],
      ["too_large", { status: 413 }, 1],
      ["not_found", { status: 404, body: "{\"errors\":[{\"code\":\"NAME_UNKNOWN\"}]}" }, 1],
      ["unreachable", { status: 503 }, 5]
    ] as const
  )("that is %s says so, after as many tries as may help", ([reason, fault, tries]) =>
    Effect.gen(function*() {
      const { proxy, use } = yield* place
      proxy.breaks(({ method }) => method === "POST" ? fault : undefined)
      expect((yield* Effect.flip(use(pushed(6)))).reason).toBe(reason)
      // The layer and the config.
      expect(proxy.seen.filter(({ method }) => method === "POST").length).toBeLessThanOrEqual(2 * tries)
      expect(proxy.seen.filter(({ method }) => method === "POST").length).toBeGreaterThanOrEqual(tries)
    }))

  it.scopedLive("loses an image by its digest; where it allows no removal it says so", () =>
    Effect.gen(function*() {
      const { proxy, registry, use } = yield* place
      const { digest } = yield* use(pushed(7))
      expect(yield* there(registry.host, digest)).toBe(200)
      const remove = use(Effect.flatMap(mirrorOf, ({ remove }) => remove(digest)))
      proxy.breaks(({ method }) => method === "DELETE" ? { status: 405 } : undefined)
      expect(yield* remove).toBe(false)
      proxy.breaks()
      expect(yield* remove).toBe(true)
      expect(yield* remove).toBe(true)
      expect(yield* there(registry.host, digest)).toBe(404)
    }))

  it.scopedLive("mounts the layers of an image that came from another repository of its own", () =>
    Effect.gen(function*() {
      const { proxy, use } = yield* place
      yield* use(pushed(8), { REGISTRY_URL: `http://${proxy.host}/other/source` })
      proxy.breaks()
      yield* use(Effect.gen(function*() {
        const { digest } = yield* stored(8)
        yield* (yield* mirrorOf).push(digest, `${proxy.host}/other/source@${digest}`)
      }))
      expect(uploads(proxy.seen)).toEqual([])
    }))

  it.scopedLive("gets the platform's password, and nobody whom it names does", () =>
    Effect.gen(function*() {
      const { proxy, use } = yield* place
      const other = yield* Effect.acquireRelease(
        Effect.promise(() => startBreakable(proxy.host)),
        ({ close }) => Effect.promise(close)
      )
      proxy.breaks(({ authorization, method }) => {
        if (authorization === undefined) return { status: 401, headers: { "www-authenticate": "Basic realm=\"x\"" } }
        return method === "POST" ? { status: 307, headers: { location: `http://${other.host}/v2/x/` } } : undefined
      })
      const login = { REGISTRY_USERNAME: "berth", REGISTRY_PASSWORD: "hush" }
      const failure = yield* Effect.flip(use(pushed(9), { ...login, ALLOWED_PRIVATE_HOSTS: other.host }))
      expect(failure.message).not.toContain("hush")
      expect(proxy.seen.at(-1)?.authorization).toMatch(/^Basic /)
      expect(other.seen.filter(({ authorization }) => authorization !== undefined)).toEqual([])
    }))
})
