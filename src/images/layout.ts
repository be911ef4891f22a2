import type { ImageConfig } from "#src/machines/Machines.ts"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { copyFile, link, lstat, open, readdir, readlink, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { arch } from "node:process"
import { Readable, Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import { type Pack, pack } from "tar-stream"
import { abortable } from "./abortable.ts"
import { type ImageError, storageError } from "./ImageError.ts"
import { type Descriptor, digestOf, mediaTypes } from "./manifest.ts"
import { architectureOf } from "./platform.ts"
import { makeStore } from "./Store.ts"
import { releaseTemporary, temporaryName } from "./temporary.ts"

/** An entry of an image, at a path without a leading slash. Modes default to 0755 for directories, else 0644. */
export type LayoutEntry =
  | { readonly type: "file"; readonly path: string; readonly content: string | Uint8Array; readonly mode?: number }
  | { readonly type: "copy"; readonly path: string; readonly from: string; readonly mode?: number }
  | { readonly type: "directory"; readonly path: string; readonly mode?: number }
  | { readonly type: "symlink"; readonly path: string; readonly target: string }

/** A layer of an image that was written before, in another layout. */
export interface WrittenLayer {
  readonly file: string
  readonly descriptor: Descriptor
  readonly diffId: string
}

export interface LayoutImage {
  /** Lowest first. */
  readonly layers: ReadonlyArray<ReadonlyArray<LayoutEntry> | WrittenLayer>
  readonly config: ImageConfig
  /** As image platforms name it (`amd64`); default this machine's. */
  readonly architecture?: string
  /** Default `latest`. Replaces the layout's image with this tag. */
  readonly tag?: string
  /** Beside its tag in the layout's index. */
  readonly annotations?: Readonly<Record<string, string>>
}

const entryInto = (archive: Pack, entry: LayoutEntry, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    // No owner and a fixed time, so that the same input gives the same bytes.
    const header = { name: entry.path, mtime: new Date(0), uid: 0, gid: 0 }
    const done = (failure?: Error | null) => failure ? reject(failure) : resolve()
    if (entry.type === "directory") archive.entry({ ...header, type: "directory", mode: entry.mode ?? 0o755 }, done)
    else if (entry.type === "symlink") archive.entry({ ...header, type: "symlink", linkname: entry.target }, done)
    else if (entry.type === "file") {
      archive.entry({ ...header, mode: entry.mode ?? 0o644 }, Buffer.from(entry.content), done)
    } else {
      lstat(entry.from).then(({ size }) => {
        const sink = archive.entry({ ...header, size, mode: entry.mode ?? 0o644 }, done)
        return pipeline(createReadStream(entry.from), sink, { signal })
      }).catch(reject)
    }
  })

const fill = async (archive: Pack, entries: ReadonlyArray<LayoutEntry>, signal: AbortSignal) => {
  const sorted = [...entries].sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0)
  for (const entry of sorted) await entryInto(archive, entry, signal)
  archive.finalize()
}

const tap = (onChunk: (chunk: Buffer) => void) =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onChunk(chunk)
      done(null, chunk)
    }
  })

const writeLayer = async (blobs: string, entries: ReadonlyArray<LayoutEntry>, signal: AbortSignal) => {
  const plain = createHash("sha256")
  const packed = createHash("sha256")
  let size = 0
  const name = temporaryName()
  const file = join(blobs, name)
  // Opened here, because a stream opens its file later, maybe after a failure has removed it.
  const sink = (await open(file, "wx")).createWriteStream({ flush: true })
  const archive = pack()
  try {
    const written = pipeline(
      Readable.from(archive),
      tap((chunk) => plain.update(chunk)),
      // Half the time of the default level, for 10 % more bytes.
      createGzip({ level: 1 }),
      tap((chunk) => {
        size += chunk.length
        packed.update(chunk)
      }),
      sink,
      { signal }
    )
    await Promise.all([
      written,
      fill(archive, entries, signal).catch((cause: unknown) => {
        archive.destroy(cause instanceof Error ? cause : new Error(String(cause)))
        throw cause
      })
    ])
    const hex = packed.digest("hex")
    await rename(file, join(blobs, hex))
    const descriptor: Descriptor = { mediaType: mediaTypes.layer, digest: `sha256:${hex}`, size }
    return { descriptor, diffId: `sha256:${plain.digest("hex")}` }
  } finally {
    await rm(file, { force: true })
    releaseTemporary(name)
  }
}

/** The same file under another name, where the file system allows it. */
const adoptLayer = async (blobs: string, { descriptor, diffId, file }: WrittenLayer) => {
  const place = join(blobs, descriptor.digest.replace("sha256:", ""))
  await link(file, place).catch((cause: NodeJS.ErrnoException) =>
    cause.code === "EEXIST" ? undefined : copyFile(file, place)
  )
  return { descriptor, diffId }
}

const isWritten = (layer: LayoutImage["layers"][number]): layer is WrittenLayer => "diffId" in layer

const json = (mediaType: string, value: unknown) => {
  const bytes = Buffer.from(JSON.stringify(value))
  return { bytes, descriptor: { mediaType, digest: digestOf(bytes), size: bytes.length } satisfies Descriptor }
}

/** Writes an image into the OCI layout at `directory`, created if absent, and returns its manifest's descriptor. */
export const writeLayout = Effect.fn("writeLayout")(function*(directory: string, image: LayoutImage) {
  const store = makeStore(directory)
  yield* store.prepare
  const layers = yield* Effect.forEach(
    image.layers,
    (layer) =>
      abortable(
        (signal) => isWritten(layer) ? adoptLayer(store.blobs, layer) : writeLayer(store.blobs, layer, signal),
        storageError("Writing an image's layer")
      )
  )
  const { cmd, entrypoint, env, user, workingDir } = image.config
  const config = json(mediaTypes.config, {
    architecture: image.architecture ?? architectureOf(arch),
    os: "linux",
    config: { Entrypoint: entrypoint, Cmd: cmd, Env: env, WorkingDir: workingDir, User: user },
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) }
  })
  const manifest = json(mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: config.descriptor,
    layers: layers.map(({ descriptor }) => descriptor)
  })
  for (const { bytes, descriptor } of [config, manifest]) {
    yield* store.put(descriptor, Effect.sync(() => Readable.from([bytes])))
  }
  const tag = image.tag ?? "latest"
  const annotations = { ...image.annotations, "org.opencontainers.image.ref.name": tag }
  yield* store.updateIndex((manifests) => [
    ...manifests.filter((listed) => listed.annotations?.["org.opencontainers.image.ref.name"] !== tag),
    { ...manifest.descriptor, annotations }
  ])
  return manifest.descriptor
})

const collectBelow = async (directory: string, prefix: string, entries: Array<LayoutEntry>) => {
  for (const child of await readdir(directory, { withFileTypes: true })) {
    const from = join(directory, child.name)
    const path = prefix === "" ? child.name : `${prefix}/${child.name}`
    const mode = (await lstat(from)).mode & 0o1777
    if (child.isDirectory()) {
      entries.push({ type: "directory", path, mode })
      await collectBelow(from, path, entries)
    } else if (child.isSymbolicLink()) entries.push({ type: "symlink", path, target: await readlink(from) })
    else if (child.isFile()) entries.push({ type: "copy", path, from, mode })
  }
  return entries
}

/** A directory's files, directories and links as entries below `prefix`; devices and sockets are left out. */
export const entriesBelow = (
  directory: string,
  prefix: string = ""
): Effect.Effect<ReadonlyArray<LayoutEntry>, ImageError> =>
  Effect.tryPromise({
    try: () => collectBelow(directory, prefix, []),
    catch: storageError("Reading the files of an image")
  })
