import type { ImageConfig } from "#src/machines/Machines.ts"
import { Effect } from "effect"
import { copyFile, link, lstat, readdir, readlink, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { arch } from "node:process"
import { Readable } from "node:stream"
import { abortable } from "./abortable.ts"
import { packInThread } from "./image-thread.ts"
import { type ImageError, storageError } from "./ImageError.ts"
import { type Descriptor, digestOf, mediaTypes } from "./manifest.ts"
import { type LayoutEntry, packLayer } from "./pack-layer.ts"
import { architectureOf } from "./platform.ts"
import { makeStore } from "./Store.ts"
import { releaseTemporary, temporaryName } from "./temporary.ts"

export type { LayoutEntry } from "./pack-layer.ts"

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

/**
 * Writes a layer of these entries. Files of this machine are read on a thread of their own: each is a few calls of the
 * file system, and the thread that serves requests would make them all.
 */
const writeLayer = async (blobs: string, entries: ReadonlyArray<LayoutEntry>, signal: AbortSignal) => {
  const name = temporaryName()
  const file = join(blobs, name)
  const task = { file, entries }
  try {
    const { diffId, digest, size } = entries.some(({ type }) => type === "copy")
      ? await packInThread(task, signal)
      : await packLayer(task, signal)
    await rename(file, join(blobs, digest.replace("sha256:", "")))
    const descriptor: Descriptor = { mediaType: mediaTypes.layer, digest, size }
    return { descriptor, diffId }
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
