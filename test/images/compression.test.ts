import { unzstd } from "#src/images/zstd-frames.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import * as zlib from "node:zlib"
import { missingProgram } from "../support/needs.ts"
import { deployed } from "./images-test.ts"

const oci = "application/vnd.oci.image.layer.v1.tar"
const docker = "application/vnd.docker.image.rootfs.diff.tar"

const zstd = (...words: ReadonlyArray<string>) => (input: Buffer) => execFileSync("zstd", ["-qc", ...words], { input })
const skipped = (bytes: Uint8Array) => {
  const head = Buffer.alloc(8)
  head.writeUInt32LE(0x184d2a53)
  head.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([head, bytes])
}
const frames = (archive: Buffer) =>
  Buffer.concat([
    skipped(Buffer.from("first")),
    zstd("-3")(archive.subarray(0, 700)),
    zstd("-19", "--no-check")(archive.subarray(700, 1100)),
    skipped(Buffer.alloc(0)),
    zstd("-1")(archive.subarray(1100)),
    skipped(Buffer.alloc(70_000, 7))
  ])

const readsZstd = typeof Reflect.get(zlib, "createZstdDecompress") === "function"
const noProgram = missingProgram("zstd")

const hello = (layerType: string, compress: (archive: Buffer) => Buffer) =>
  Effect.map(deployed({ layerType, compress }), ({ rootfs }) => readFileSync(join(rootfs, "hello"), "utf8"))

describe("a layer is read as its first bytes say", () => {
  const types = [oci, `${oci}+gzip`, `${oci}+zstd`, docker, `${docker}.gzip`, `${docker}.zstd`]

  it.scopedLive.each(types)("whatever its media type says: %s", (layerType) =>
    Effect.gen(function*() {
      expect(yield* hello(layerType, (archive) => archive)).toBe("hello\n")
      expect(yield* hello(layerType, (archive) => zlib.gzipSync(archive))).toBe("hello\n")
      // gzip of several members (RFC 1952 §2.2), as parallel compressors write it.
      const members = (archive: Buffer) =>
        Buffer.concat([zlib.gzipSync(archive.subarray(0, 700)), zlib.gzipSync(archive.subarray(700))])
      expect(yield* hello(layerType, members)).toBe("hello\n")
      if (noProgram !== undefined) return
      for (const compress of [zstd(), frames]) {
        if (readsZstd) expect(yield* hello(layerType, compress)).toBe("hello\n")
        else {
          const refusal = yield* Effect.flip(hello(layerType, compress))
          expect(refusal.reason).toBe("unsupported")
          expect(refusal.message).toContain(`Node.js 22.15 and newer can read, and this is ${process.version}`)
          expect(refusal.message).toContain("push the image with layers compressed by gzip")
        }
      }
    }))
})

describe.skipIf(!readsZstd || noProgram !== undefined)("what is compressed by zstd", () => {
  const plain = Buffer.from("some text, ".repeat(40_000))

  async function* pieces(bytes: Buffer, size: number) {
    for (let from = 0; from < bytes.length; from += size) yield await Promise.resolve(bytes.subarray(from, from + size))
  }
  const read = (bytes: Buffer, size: number) => buffer(unzstd(pieces(bytes, size)))

  it("is the same however its frames and the chunks of the stream are cut", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(plain.length), { maxLength: 3 }),
        fc.integer({ min: 1, max: 5_000 }),
        async (cuts, size) => {
          const ends = [...cuts.toSorted((a, b) => a - b), plain.length]
          const parts = ends.map((end, at) =>
            zstd(...at % 2 === 0 ? [] : ["--no-check"])(plain.subarray(ends[at - 1] ?? 0, end))
          )
          const whole = Buffer.concat(parts.flatMap((part) => [part, skipped(Buffer.alloc(size))]))
          expect(Buffer.compare(await read(whole, size), plain)).toBe(0)
        }
      ),
      { numRuns: 10 }
    ))

  it("is refused where it is cut short, or something is between its frames", async () => {
    const frame = zstd()(plain)
    for (const end of [2, 5, 9, frame.length - 1]) await expect(read(frame.subarray(0, end), 1_000)).rejects.toThrow()
    await expect(read(Buffer.concat([frame, Buffer.from("x")]), 1_000)).rejects.toThrow("between its frames")
    await expect(read(Buffer.concat([frame, Buffer.from("no frame")]), 1_000)).rejects.toThrow("between its frames")
  })
})
